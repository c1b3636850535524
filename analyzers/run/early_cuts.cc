#include "analyzers/run/early_cuts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzers/policy.h"
#include "analyzers/run/call_stacks.h"
#include "analyzers/run/early_cuts_internal.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/inputs_by_place.h"
#include "analyzers/run/repeated_work.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "base/runtime_scopes.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

struct Row {
  int64_t id = 0, process_id = 0;
  std::string hash;
  OptInt graph_id, site_id, stack_id, wait_ns, device_ns;
  std::string scope;
  Subject subject;
  SourcePlace value_place;
};

// Loads the executions that a read of a value caused. `tables` is "" for those of the store's
// slice, or "main." for all.
absl::StatusOr<std::vector<Row>> LoadRows(const Store& store, std::string_view tables) {
  std::vector<Row> rows;
  XP_TRY(store.Each(
      fmt::format(
          "SELECT e.id, coalesce(e.process_id, 0), e.graph_id, coalesce(g.hash, ''), "
          "e.site_id, e.stack_id, e.host_wait_ns, e.dur_ns, coalesce(e.scope, ''), s.function, "
          "s.file, s.line "
          "FROM {}execution e LEFT JOIN graph g ON g.id = e.graph_id LEFT JOIN site s ON "
          "s.id = e.site_id WHERE e.cause = 'value_access' ORDER BY e.process_id, "
          "e.ordinal",
          tables),
      [&](int64_t id, int64_t process_id, OptInt graph, std::string hash, OptInt site, OptInt stack,
          OptInt wait, OptInt device_ns, std::string scope, OptText function, OptText file,
          OptInt line) {
        Row row{id, process_id, std::move(hash), graph, site, stack, wait, device_ns, scope, {}};
        row.subject = {.file = std::move(file), .line = line, .function = std::move(function)};
        if (!scope.empty()) row.subject.scope = scope;
        rows.push_back(std::move(row));
      }));
  // A profile that could not be aligned with the log shows the same reads again, but without lines.
  bool any_site =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.site_id.has_value(); });
  if (any_site) std::erase_if(rows, [](const Row& row) { return !row.site_id; });
  return rows;
}

// Sets where the values were made, in the user's code. Only reads without a line need it.
absl::Status PlaceValues(const Run& run, std::vector<Row>& rows) {
  XP_TRY(const UserCode* code, run.Get<UserCode>());
  for (Row& row : rows) {
    if (row.site_id || !row.graph_id) continue;
    XP_TRY(const GraphResults* results, run.Get<GraphResults>(*row.graph_id));
    row.value_place = code->Resolve(code->Of(results->location));
  }
  return absl::OkStatus();
}

absl::Status Describe(const Run& run, const RepeatedWork& repeated, const std::vector<Row>& rows,
                      EarlyCut& cut) {
  std::map<std::pair<int64_t, std::string>, bool> seen;
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  const auto runs_again = [&](const Row& row) { return repeated.Of(row.id).value_or(0) > 0; };
  const auto is_known = [&](const Row& row) { return repeated.Of(row.id).has_value(); };
  cut.runs_nothing_again =
      std::ranges::any_of(rows, is_known) && std::ranges::none_of(rows, runs_again);
  for (const Row& row : rows) {
    const std::optional<double> again = repeated.Of(row.id);
    if (row.wait_ns) cut.waits.Add(*row.wait_ns);
    if (row.device_ns && again) cut.repeats.Add(Whole(*again * double(*row.device_ns)));
    if (!row.graph_id || !seen.emplace(std::pair(*row.graph_id, row.hash), true).second) continue;
    ++cut.graphs;
    XP_TRY(const GraphResults* results, run.Get<GraphResults>(*row.graph_id));
    // TorchTPU runs all that waits, so only a single result is certain to be what is read.
    const GraphRow* graph = graphs->Find(row.graph_id);
    const bool is_all = graph != nullptr && graph->printed_as == PrintedForm::kTorchtpuOps &&
                        results->shapes.size() > 1;
    for (const XlaShape& shape : results->shapes) {
      if (is_all) break;
      if (!cut.shape) cut.shape = shape;
      bool scalar = shape.is_scalar();
      if (!scalar) cut.value = EarlyCut::Value::kTensor;
      if (scalar && cut.value == EarlyCut::Value::kUnknown) cut.value = EarlyCut::Value::kScalar;
    }
    XP_TRY(auto nodes,
           run.store().One<int64_t>(
               "SELECT max(node_count) FROM graph WHERE (id = ?1 OR (?2 <> '' AND hash = ?2)) AND "
               "printed_as IN ('ir_text', 'ir_dot', 'torchtpu_ops')",
               *row.graph_id, row.hash));
    if (nodes) cut.nodes = std::max(*nodes, cut.nodes.value_or(0));
    XP_TRY(auto inputs, MostInputsOfOneLine(run, *row.graph_id));
    if (inputs && (!cut.inputs || inputs->count > cut.inputs->count)) cut.inputs = *inputs;
  }
  return absl::OkStatus();
}

// The places at which values are sent to a device, numbers excepted.
struct UploadSites {
  bool are_known = false;  // the source has the places of transfers
  std::set<int64_t> ids;

  static absl::StatusOr<UploadSites> Of(const Run& run) {
    UploadSites sites;
    XP_TRY(run.store().Each(
        fmt::format("SELECT DISTINCT site_id, direction = 'to_device' AND coalesce(bytes > {}, 1) "
                    "FROM transfer WHERE site_id IS NOT NULL",
                    double(policy::kBytesOfNumber)),
        [&](int64_t site, bool is_upload) {
          sites.are_known = true;
          if (is_upload) sites.ids.insert(site);
        }));
    return sites;
  }
};

// Returns whether the innermost scope, such as train.1/save.2, is that in which our runtime saves
// tensors.
bool IsSave(std::string_view scope) {
  const std::string_view innermost = scope.substr(scope.rfind('/') + 1);
  return innermost.substr(0, innermost.rfind('.')) == runtime_scopes::kSave;
}

// Sets the input that is made of what the cut read, if the graphs show one.
absl::Status FindReturned(const Run& run, const std::vector<Row>& rows, EarlyCut& cut) {
  if (cut.value != EarlyCut::Value::kTensor || cut.place().empty() || cut.is_save)
    return absl::OkStatus();
  // What nobody sends to the device stayed there: it was computed, and is an input from then on.
  XP_TRY(const UploadSites* uploads, run.Get<UploadSites>());
  if (uploads->are_known && rows.front().site_id && !uploads->ids.contains(*rows.front().site_id))
    return absl::OkStatus();
  XP_TRY(const InputsByPlace* inputs, run.Get<InputsByPlace>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  InputsByPlace::Fetched fetched{.place = cut.place(), .is_exact = cut.subject.file.has_value()};
  std::set<int64_t> seen;
  const GraphResults* first = nullptr;
  for (const Row& row : rows) {
    if (!row.graph_id || !seen.insert(*row.graph_id).second) continue;
    std::set<int64_t>& forms = fetched.graphs.emplace_back(std::set<int64_t>{*row.graph_id});
    for (const GraphRow* form : graphs->FormsOf(row.graph_id)) forms.insert(form->id);
    XP_TRY(const GraphResults* results, run.Get<GraphResults>(*row.graph_id));
    if (first == nullptr) first = results;
    fetched.has_one_shape = fetched.has_one_shape && results->shapes == first->shapes;
  }
  cut.returned = inputs->MadeOf(fetched);
  return absl::OkStatus();
}

absl::StatusOr<EarlyCuts> Find(const Run& run, std::string_view tables) {
  EarlyCuts out;
  XP_TRY(std::vector<Row> rows, LoadRows(run.store(), tables));
  XP_TRY(const CallStacks* stacks, run.Get<CallStacks>());
  XP_TRY(PlaceValues(run, rows));
  std::map<std::tuple<int64_t, std::string, SourcePlace, SourcePlace>, std::vector<Row>> places;
  for (Row& row : rows) {
    std::tuple key(row.site_id.value_or(0), row.site_id ? "" : row.scope,
                   stacks->LibraryOf(row.stack_id), row.value_place);
    places[key].push_back(std::move(row));
  }
  XP_TRY(const StepCounts* counts, run.Get<StepCounts>());
  XP_TRY(const RepeatedWork* repeated, run.Get<RepeatedWork>());
  for (const auto& [key, group] : places) {
    EarlyCut cut{.subject = group.front().subject,
                 .library = std::get<2>(key),
                 .value_place = std::get<3>(key)};
    std::set<int64_t> processes;
    for (const Row& row : group) {
      processes.insert(row.process_id);
      cut.executions.push_back(row.id);
      if (!cut.subject.scope && row.subject.scope) cut.subject.scope = row.subject.scope;
      cut.is_save = cut.is_save || IsSave(row.scope);
    }
    int64_t steps = 0;
    for (int64_t process_id : processes) steps += counts->Of(process_id);
    cut.steps = steps > 0 ? steps : counts->all;
    cut.count = int64_t(cut.executions.size());
    XP_TRY(Describe(run, *repeated, group, cut));
    XP_TRY(FindReturned(run, group, cut));
    out.cuts.push_back(std::move(cut));
  }
  std::stable_sort(out.cuts.begin(), out.cuts.end(), [](const EarlyCut& a, const EarlyCut& b) {
    if (a.executions.size() != b.executions.size())
      return a.executions.size() > b.executions.size();
    return std::tie(a.subject.file, a.subject.line, a.library, a.value_place) <
           std::tie(b.subject.file, b.subject.line, b.library, b.value_place);
  });
  XP_TRY(LoadFallbackOps(run, tables, out));
  return out;
}

// Sets the ops of a chosen part's cuts. Counters cover the whole run, so only the whole run shows
// which cut is an op's.
void NameOps(const EarlyCuts& whole, EarlyCuts& slice) {
  auto place = [](const EarlyCut& cut) {
    return std::tuple(cut.subject.file, cut.subject.line, cut.subject.function, cut.subject.scope,
                      cut.library, cut.value_place);
  };
  std::map<decltype(place(EarlyCut())), const EarlyCut*> named;
  for (const EarlyCut& cut : whole.cuts) {
    if (!cut.op.empty()) named.emplace(place(cut), &cut);
  }
  for (size_t i = 0; i < slice.cuts.size(); ++i) {
    EarlyCut& cut = slice.cuts[i];
    const auto known = named.find(place(cut));
    if (known == named.end() || !cut.op.empty()) continue;
    cut.op = known->second->op;
    cut.likely = known->second->likely;
    auto op = std::ranges::find(slice.ops, cut.op, &FallbackOp::op);
    if (op == slice.ops.end()) {
      slice.ops.push_back(*std::ranges::find(whole.ops, cut.op, &FallbackOp::op));
      op = std::prev(slice.ops.end());
      op->count.reset();
      op->cuts.clear();
    }
    op->cuts.push_back(int(i));
  }
}

}  // namespace

absl::StatusOr<EarlyCuts> EarlyCuts::Of(const Run& run) {
  XP_TRY(EarlyCuts out, Find(run, ""));
  XP_TRY(LimitCosts(run, out));
  if (!run.slice().is_part_of_time()) {
    XP_TRY(EstimateTimes(run, out));
    return out;
  }
  XP_TRY(const EarlyCuts whole, Find(run, "main."));
  NameOps(whole, out);
  return out;
}

}  // namespace xlaprof
