#include "analyzers/run/early_cuts.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzers/policy.h"
#include "analyzers/run/call_stacks.h"
#include "analyzers/run/fetches.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/inputs_by_place.h"
#include "analyzers/run/op_in_source.h"
#include "analyzers/run/repeated_work.h"
#include "analyzers/run/run_time.h"
#include "analyzers/run/source_lines.h"
#include "analyzers/run/step_count.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "base/whole.h"
#include "profiler/store/cut_kind.h"

namespace xlaprof {
namespace {

// A read by .item(), bool() or float(), which is not a fallback.
constexpr std::string_view kScalarRead = "aten::_local_scalar_dense";

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

bool SamePlace(const Subject& a, const Subject& b) { return a.file == b.file && a.line == b.line; }

// Reads the facts that only call stacks show. print() selects the elements that it shows by a mask.
absl::Status LoadStacks(const Store& store, std::string_view tables, EarlyCuts& out) {
  const std::string calls = fmt::format(
      "(SELECT f.*, EXISTS (SELECT 1 FROM frame r WHERE r.stack_id = f.stack_id AND r.file LIKE "
      "'%/torch/_tensor_str.py') AS printed FROM {}fallback f WHERE f.stack_id IS NOT NULL)",
      tables);
  XP_TRY(store.Each(
      fmt::format("SELECT s.function, s.file, s.line, CAST(total(c.count) AS INTEGER), "
                  "min(c.printed) FROM {} c JOIN site s ON s.id = c.site_id WHERE c.op IS NULL "
                  "GROUP BY c.site_id ORDER BY 4 DESC, c.site_id",
                  calls),
      [&](OptText function, OptText file, OptInt line, int64_t count, bool printed) {
        Subject subject{.file = std::move(file), .line = line, .function = std::move(function)};
        auto is_here = [&](const Subject& other) { return SamePlace(other, subject); };
        const bool told = std::ranges::any_of(out.cuts, is_here, &EarlyCut::subject) ||
                          std::ranges::any_of(out.scalar_read_sites, is_here,
                                              &std::pair<Subject, int64_t>::first) ||
                          std::ranges::any_of(out.ops, [&](const FallbackOp& op) {
                            return std::ranges::any_of(op.sites, is_here);
                          });
        if (!told) out.unnamed.push_back({std::move(subject), count, printed});
      }));
  return store.Each(
      fmt::format("SELECT op FROM {} WHERE op IS NOT NULL GROUP BY op HAVING min(printed) = 1",
                  calls),
      [&](std::string_view op) {
        for (FallbackOp& known : out.ops) known.printed = known.printed || known.op == op;
      });
}

absl::Status LoadOps(const Store& store, const CallStacks& stacks, std::string_view tables,
                     EarlyCuts& out) {
  // Counters count an op's calls, and the exit summary counts those of each call site. Both
  // describe the same calls.
  XP_TRY(store.Each(
      fmt::format("SELECT op, CAST(total(calls) AS INTEGER) FROM (SELECT op, max(total(iif("
                  "stack_id IS NULL, count, 0)), total(iif(stack_id IS NULL, 0, count))) AS calls "
                  "FROM {}fallback WHERE op IS NOT NULL GROUP BY op, process_id) GROUP BY op "
                  "ORDER BY 2 DESC, op",
                  tables),
      [&](std::string op, int64_t count) {
        if (op == kScalarRead) {
          out.scalar_reads = count;
        } else {
          out.ops.push_back({.op = std::move(op), .count = count});
        }
      }));
  absl::flat_hash_map<std::string, size_t> place_of;  // index in out.ops
  for (size_t i = 0; i < out.ops.size(); ++i) place_of.emplace(out.ops[i].op, i);
  XP_TRY(store.Each(
      fmt::format("SELECT f.op, s.function, s.file, s.line, f.stack_id, CAST(total(f.count) AS "
                  "INTEGER) FROM {}fallback f JOIN site s ON s.id = f.site_id WHERE f.op IS NOT "
                  "NULL GROUP BY f.op, f.site_id, f.stack_id ORDER BY CAST(total(f.count) AS "
                  "INTEGER) DESC, f.op, f.site_id, f.stack_id",
                  tables),
      [&](std::string op, OptText function, OptText file, OptInt line, OptInt stack_id,
          int64_t count) {
        if (op == kScalarRead) {
          const Subject site{.file = file, .line = line, .function = std::move(function)};
          const auto same = std::ranges::find_if(out.scalar_read_sites, [&](const auto& other) {
            return SamePlace(other.first, site);
          });
          if (same == out.scalar_read_sites.end()) {
            out.scalar_read_sites.emplace_back(site, count);
          } else {
            same->second += count;
          }
          return;
        }
        const auto known = place_of.find(op);
        if (known == place_of.end()) return;
        FallbackOp& known_op = out.ops[known->second];
        const Subject site{.file = std::move(file), .line = line, .function = std::move(function)};
        const SourcePlace library = stacks.LibraryOf(stack_id);
        if (known_op.sites.empty()) known_op.library = library;
        if (std::ranges::none_of(known_op.sites,
                                 [&](const Subject& other) { return SamePlace(other, site); }))
          known_op.sites.push_back(site);
      }));
  return absl::OkStatus();
}

// Adds ops that torch_xla's own line names without a count: "Op(s) not lowered: aten::a, aten::b,
// Please open ...".
absl::Status LoadNotLowered(const Store& store, EarlyCuts& out) {
  return store.Each(
      "SELECT text FROM profiler_line WHERE rule = 'not_lowered' ORDER BY ordinal DESC LIMIT 1",
      [&](std::string_view text) {
        size_t at = 0;
        while ((at = text.find("::", at)) != std::string_view::npos) {
          size_t begin = text.find_last_of(" ,:", at - 1);
          begin = begin == std::string_view::npos ? 0 : begin + 1;
          size_t end = text.find_first_of(", \t", at);
          std::string op(text.substr(begin, end == std::string_view::npos ? end : end - begin));
          at += 2;
          if (op != kScalarRead && std::ranges::find(out.ops, op, &FallbackOp::op) == out.ops.end())
            out.ops.push_back({.op = std::move(op)});
        }
      });
}

// Matches ops with the lines at which stacks show their calls.
void MatchBySites(EarlyCuts& out) {
  std::map<std::pair<OptText, OptInt>, std::vector<int>> at_place;
  for (size_t i = 0; i < out.cuts.size(); ++i)
    at_place[{out.cuts[i].subject.file, out.cuts[i].subject.line}].push_back(int(i));
  for (FallbackOp& op : out.ops) {
    if (op.sites.empty()) continue;
    const auto here = at_place.find({op.sites.front().file, op.sites.front().line});
    if (here == at_place.end()) continue;
    for (int i : here->second) {
      // The same line may make reads and calls of other ops inside libraries.
      if (out.cuts[size_t(i)].library != op.library) continue;
      op.cuts.push_back(i);
      out.cuts[size_t(i)].op = op.op;
    }
  }
}

// Returns whether the line of a cut, which a log shows with all of its executions, cut too rarely for
// the calls of the op.
bool IsTooRare(const EarlyCut& cut, const FallbackOp& op) {
  return op.count && cut.subject.file &&
         double(cut.executions.size()) < policy::kLeastShareOfCalls * double(*op.count);
}

// Returns the places in `out.cuts` at which an op may have cut: where no read of a number did.
std::vector<int> PossibleCuts(const EarlyCuts& out) {
  std::vector<int> possible;
  for (size_t i = 0; i < out.cuts.size(); ++i) {
    if (out.cuts[i].op.empty() && out.cuts[i].value != EarlyCut::Value::kScalar)
      possible.push_back(int(i));
  }
  return possible;
}

// The lines of the cuts, as far as the source may be read.
std::vector<std::string> LinesOf(const EarlyCuts& out, const SourceLines& source) {
  std::vector<std::string> lines;
  for (const EarlyCut& cut : out.cuts) {
    // The user's line does not name what a library calls.
    const bool is_own = cut.subject.file && cut.library.empty();
    lines.push_back(is_own ? source.At(cut.subject.place()) : "");
  }
  return lines;
}

// Matches ops with the lines that call them by name. A line that calls several of the ops, or lines
// that cut more often together than the op is called, show nothing.
void MatchBySource(const std::vector<std::string>& lines, EarlyCuts& out) {
  std::map<int, std::vector<FallbackOp*>> callers;  // by cut
  for (FallbackOp& op : out.ops) {
    if (!op.cuts.empty() || !op.sites.empty()) continue;
    for (const int i : PossibleCuts(out)) {
      const EarlyCut& cut = out.cuts[size_t(i)];
      const bool is_mask = cut.shape && cut.shape->element_type() == "pred";
      if (!IsTooRare(cut, op) && LineCallsOp(lines[size_t(i)], op.op, is_mask))
        callers[i].push_back(&op);
    }
  }
  std::map<FallbackOp*, std::vector<int>> cuts_of;
  for (const auto& [i, ops] : callers) {
    if (ops.size() == 1) cuts_of[ops.front()].push_back(i);
  }
  for (const auto& [op, cuts] : cuts_of) {
    int64_t executions = 0;
    for (const int i : cuts) executions += int64_t(out.cuts[size_t(i)].executions.size());
    if (op->count && executions > *op->count) continue;
    op->cuts = cuts;
    for (const int i : cuts) out.cuts[size_t(i)].op = op->op;
  }
}

// Matches the ops that are left. An op belongs to a place if only this place cuts as often as the op is
// called. If several places are possible, none is chosen.
void MatchByCount(const std::vector<std::string>& lines, EarlyCuts& out) {
  std::vector<int> all;
  std::map<int64_t, std::vector<int>> by_count;
  for (const int i : PossibleCuts(out)) {
    if (LineReadsValue(lines[size_t(i)])) continue;
    all.push_back(i);
    by_count[int64_t(out.cuts[size_t(i)].executions.size())].push_back(i);
  }
  // Returns the first cuts that may be the op's, and counts all of them.
  auto first_free = [&](const std::vector<int>& of, const FallbackOp& op, int64_t& free) {
    std::vector<int> found;
    free = 0;
    for (int i : of) {
      if (!out.cuts[size_t(i)].op.empty() || IsTooRare(out.cuts[size_t(i)], op)) continue;
      ++free;
      if (found.size() < FallbackOp::kMaxCandidates) found.push_back(i);
    }
    return found;
  };
  for (bool exact : {true, false}) {
    for (FallbackOp& op : out.ops) {
      if (!op.cuts.empty() || !op.sites.empty()) continue;
      int64_t free = 0;
      std::vector<int> found = first_free(exact && op.count ? by_count[*op.count] : all, op, free);
      // A cut of unknown shape may be a plain read instead, so only a cut that fetched a tensor is
      // certain.
      bool sure = found.size() == 1 && out.cuts[size_t(found[0])].value == EarlyCut::Value::kTensor;
      if (sure) {
        op.cuts = found;
        out.cuts[size_t(found[0])].op = op.op;
        out.cuts[size_t(found[0])].likely = !exact || !op.count;
      } else if (!exact) {
        op.candidates = std::move(found);
        op.candidate_count = free;
      }
    }
  }
  // As many lines fetch a tensor as there are ops with this count.
  std::map<int64_t, int64_t> ops_of;
  for (const FallbackOp& op : out.ops) {
    if (op.cuts.empty() && op.sites.empty() && op.count) ++ops_of[*op.count];
  }
  for (const auto& [count, ops] : ops_of) {
    std::vector<int> free;
    for (const int i : by_count[count]) {
      const EarlyCut& cut = out.cuts[size_t(i)];
      if (cut.op.empty() && cut.value == EarlyCut::Value::kTensor) free.push_back(i);
    }
    for (const int i : free) out.cuts[size_t(i)].of_some_op = int64_t(free.size()) == ops;
  }
}

// Finds the cuts of each op. An op fetches tensors, but a read of a Python number fetches a scalar.
absl::Status Match(const Run& run, EarlyCuts& out) {
  XP_TRY(const SourceLines* source, run.Get<SourceLines>());
  MatchBySites(out);
  const std::vector<std::string> lines = LinesOf(out, *source);
  MatchBySource(lines, out);
  MatchByCount(lines, out);
  return absl::OkStatus();
}

// Sets the input that is made of what the cut read, if the graphs show one.
absl::Status FindReturned(const Run& run, const std::vector<Row>& rows, EarlyCut& cut) {
  if (cut.value != EarlyCut::Value::kTensor || cut.place().empty()) return absl::OkStatus();
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
  const Store& store = run.store();
  EarlyCuts out;
  XP_TRY(std::vector<Row> rows, LoadRows(store, tables));
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
  XP_TRY(const bool has_calls, store.HasRows(fmt::format("{}fallback", tables)));
  if (has_calls) XP_TRY(LoadOps(store, *stacks, tables, out));
  XP_TRY(LoadNotLowered(store, out));
  if (has_calls) XP_TRY(LoadStacks(store, tables, out));
  XP_TRY(Match(run, out));
  return out;
}

// Limits the costs of the measured cuts: what is left of the time that was measured without
// compilations and without the device's work for the steps themselves.
absl::Status LimitCosts(const Run& run, EarlyCuts& cuts) {
  double wanted_ns = 0;
  for (const EarlyCut& cut : cuts.cuts) wanted_ns += double(cut.cost_ns().value_or(0));
  if (wanted_ns <= 0) return absl::OkStatus();
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::map<int64_t, double> left_ns;  // by process
  for (const auto& [process_id, ns] : times->timed_by_process) left_ns[process_id] = double(ns);
  for (const CompileRow& row : compiles->rows) {
    if (row.ts_ns)
      left_ns[row.process_id.value_or(0)] -=
          double(row.dur_ns.value_or(0) + row.trace_ns.value_or(0));
  }
  // Devices work at the same time, so the busiest of each process counts.
  std::map<std::pair<int64_t, OptText>, double> own_ns;
  XP_TRY(const RepeatedWork* repeated, run.Get<RepeatedWork>());
  for (const ExecutionRow& row : executions->rows) {
    // A read whose nodes do not run again does the step's own work.
    if ((row.cause && EndsStep(*row.cause)) || repeated->Of(row.id) == 0.0)
      own_ns[{row.process_id.value_or(0), row.device}] += double(row.dur_ns.value_or(0));
  }
  std::map<int64_t, double> busiest_ns;
  for (const auto& [key, ns] : own_ns) busiest_ns[key.first] = std::max(busiest_ns[key.first], ns);
  double limit_ns = 0;
  for (const auto& [process_id, ns] : left_ns)
    limit_ns += std::max(0.0, ns - busiest_ns[process_id]);
  if (limit_ns <= 0 || limit_ns >= wanted_ns) return absl::OkStatus();
  for (EarlyCut& cut : cuts.cuts) cut.lost = limit_ns / wanted_ns;
  return absl::OkStatus();
}

// Counts the executions of the cuts of ops whose calls are counted, if a profile shows only some of
// them and no log the others. The runtime counted all executions, so no more than are missing are theirs.
absl::Status CountMissingCuts(const Run& run, EarlyCuts& cuts) {
  XP_TRY(const Fetches* fetches, run.Get<Fetches>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  int64_t missing = fetches->executions.value_or(0) - int64_t(executions->rows.size());
  for (const FallbackOp& op : cuts.ops) {
    if (op.cuts.size() != 1 || !op.count) continue;
    EarlyCut& cut = cuts.cuts[size_t(op.cuts[0])];
    const int64_t more =
        std::clamp<int64_t>(*op.count - cut.count, 0, std::max<int64_t>(0, missing));
    cut.count += more;
    missing -= more;
  }
  return absl::OkStatus();
}

// Returns the time that all reads and ops without lowering of the run block the host at most: in one
// process, that of all fetches, which metrics count. Nothing if the metrics do not cover the cuts.
absl::StatusOr<OptInt> MostWait(const Run& run, const EarlyCuts& cuts) {
  XP_TRY(const Fetches* fetches, run.Get<Fetches>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::set<OptInt> processes;
  for (const ExecutionRow& row : executions->rows) processes.insert(row.process_id);
  int64_t cut = 0;
  for (const EarlyCut& of : cuts.cuts) cut += of.count;
  return processes.size() == 1 && fetches->count.value_or(0) >= cut ? fetches->time_ns : OptInt();
}

// Makes estimated times fit into `limit_ns` by one factor. None becomes less than what was measured.
struct Estimate {
  int64_t* ns;
  int64_t measured_ns;
};
void FitInto(double limit_ns, const std::vector<Estimate>& estimates) {
  double sum_ns = 0;
  for (const Estimate& of : estimates) sum_ns += double(*of.ns);
  if (sum_ns <= limit_ns) return;
  for (const Estimate& of : estimates)
    *of.ns = std::max(of.measured_ns, Whole(double(*of.ns) * std::max(0.0, limit_ns) / sum_ns));
}

// Estimates the times of the cuts of which only some executions were measured. All waits together are
// not longer than all fetches, and no cost is longer than the run without its compilations.
absl::Status EstimateTimes(const Run& run, EarlyCuts& cuts) {
  XP_TRY(CountMissingCuts(run, cuts));
  std::vector<Estimate> waits, all;
  double known_ns = 0;  // waits that are not estimated
  for (EarlyCut& cut : cuts.cuts) {
    cut.estimated_wait_ns = cut.waits.OfAll(cut.count);
    if (!cut.estimated_wait_ns) {
      known_ns += double(cut.waits.sum_ns);
      continue;
    }
    cut.estimated_again_ns = cut.repeats.OfAll(cut.count).value_or(cut.repeats.sum_ns);
    waits.push_back({&*cut.estimated_wait_ns, cut.waits.sum_ns});
    all.insert(all.end(), {waits.back(), {&*cut.estimated_again_ns, cut.repeats.sum_ns}});
  }
  if (all.empty()) return absl::OkStatus();
  XP_TRY(const OptInt most_wait_ns, MostWait(run, cuts));
  if (most_wait_ns) FitInto(double(*most_wait_ns) - known_ns, waits);
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  double left_ns = 0;
  for (const auto& [process_id, ns] : times->by_process) left_ns += double(ns);
  for (const CompileRow& row : compiles->rows)
    left_ns -= double(row.dur_ns.value_or(0) + row.trace_ns.value_or(0));
  FitInto(left_ns, all);
  return absl::OkStatus();
}

// Sets the ops of a slice's cuts. Counters cover the whole run, so only the whole run shows which
// cut is an op's.
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

void MeasuredTimes::Add(int64_t ns) {
  sum_ns += ns;
  longest_ns = std::max(longest_ns, ns);
  ++count;
}

std::optional<int64_t> MeasuredTimes::OfAll(int64_t all) const {
  if (count < policy::kNotOnce || count >= all) return {};
  const double usual_ns = double(sum_ns - longest_ns) / double(count - 1);
  return Whole(double(sum_ns) + usual_ns * double(all - count));
}

std::optional<int64_t> EarlyCut::cost_ns() const {
  if (waits.count == 0) return {};
  return Whole(lost * double(estimated_wait_ns.value_or(waits.sum_ns) +
                             estimated_again_ns.value_or(repeats.sum_ns)));
}

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
