// Finds the places at which torch.compile ended a graph because it cannot trace what follows.
#include "analyzers/graph_break.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/recompile/function_part.h"
#include "analyzers/run/call_stacks.h"
#include "analyzers/run/ranks.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

constexpr size_t kMostBreakRows = 32;  // rows that a finding cites

struct Place {
  std::vector<const GraphBreakRow*> rows;
  std::string function;
};

// Returns the functions and parts of functions that were compiled, by the whole function's name.
std::map<std::string, std::set<std::string>> PartsOf(const Compiles& compiles) {
  std::map<std::string, std::set<std::string>> parts;
  for (const CompileRow& row : compiles.rows) {
    if (row.cause != CutKind::kCompiledFunction || !row.function) continue;
    parts[ParseFunctionPart(*row.function).function].insert(*row.function);
  }
  return parts;
}

// Returns the sources of the rows, by row.
absl::StatusOr<std::map<int64_t, int64_t>> SourcesOf(const Run& run) {
  std::map<int64_t, int64_t> sources;
  XP_TRY(
      run.store().Each("SELECT row_id, source_id FROM provenance WHERE table_name = 'graph_break'",
                       [&](int64_t row, int64_t source) { sources[row] = source; }));
  return sources;
}

// Returns how often the place was met. Several sources may report the same, so the one that has it
// most often counts.
int64_t CountOf(const Place& place, const std::map<int64_t, int64_t>& sources) {
  std::map<int64_t, int64_t> counts;  // by source
  int64_t most = 0;
  for (const GraphBreakRow* row : place.rows) {
    const auto source = sources.find(row->id);
    most = std::max(most, ++counts[source == sources.end() ? 0 : source->second]);
  }
  return most;
}

// Sets the place of a finding: the line that ends the graph, or else the user's line from which a
// library came to it.
void SetPlace(const Sites& sites, const CallStacks& stacks, const GraphBreakRow& row,
              Finding* finding, GraphBreakFigures* figures) {
  finding->subject = sites.SubjectOf(row.site_id);
  const auto stack = stacks.by_id.find(row.stack_id.value_or(-1));
  if (stack == stacks.by_id.end() || stack->second.empty() || stack->second.front().is_user) return;
  const auto user = std::ranges::find_if(stack->second, &CallFrame::is_user);
  if (user == stack->second.end()) return;
  figures->library = finding->subject.place();
  finding->subject = {};
  finding->subject.SetPlace(user->place);
}

absl::StatusOr<Findings> FindGraphBreaks(const Run& run) {
  XP_TRY(const auto* table, run.Get<Table<GraphBreakRow>>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  XP_TRY(const CallStacks* stacks, run.Get<CallStacks>());
  std::map<std::tuple<OptInt, std::string>, Place> places;
  std::map<std::string, std::set<OptInt>> sites_of;  // by whole function
  for (const GraphBreakRow& row : table->rows) {
    Place& place = places[{row.site_id, row.reason}];
    place.rows.push_back(&row);
    if (row.function) place.function = ParseFunctionPart(*row.function).function;
    sites_of[place.function].insert(row.site_id);
  }
  XP_TRY(const auto sources, SourcesOf(run));
  XP_TRY(const Ranks* ranks, run.Get<Ranks>());
  const auto parts = PartsOf(*compiles);
  Findings findings;
  for (const auto& [key, place] : places) {
    const GraphBreakRow& first = *place.rows.front();
    GraphBreakFigures figures{.function = place.function,
                              .reason = first.reason,
                              .hint = first.hint.value_or(""),
                              .code = first.code.value_or(""),
                              .places = int64_t(sites_of[place.function].size())};
    if (const auto of = parts.find(place.function); of != parts.end())
      figures.parts = int64_t(of->second.size());
    Finding finding{.count = CountOf(place, sources),
                    .reason = Reason{.type = first.type},
                    .evidence = {{.table = "graph_break"}}};
    SetPlace(*sites, *stacks, first, &finding, &figures);
    std::set<int64_t> processes;
    for (const GraphBreakRow* row : place.rows) {
      processes.insert(row->process_id.value_or(0));
      if (finding.evidence[0].rows.size() < kMostBreakRows)
        finding.evidence[0].rows.push_back(row->id);
    }
    XP_TRY(const auto formats, ranks->FormatsOf(run, "graph_break", finding.evidence[0].rows));
    finding.only_ranks = ranks->Only(processes, first.function.value_or(""), formats);
    // Each call waits for the value that it needs. Of other breaks, only several divide a function
    // into parts that are too small.
    finding.needs_fixing =
        figures.library.empty() && (finding.reason->type != ReasonType::kUntraceable ||
                                    figures.places >= policy::kManyGraphBreaks);
    finding.figures = std::move(figures);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer graph_break{
    .name = "graph_break",
    .summary = "lines at which torch.compile ends a graph, because it cannot trace them",
    .meaning =
        "A function under torch.compile becomes several graphs, with Python between them. The compiler cannot fuse operations across such a line, and each part is compiled and checked by itself. If the line reads a tensor's value, each call also waits for the device.",
    .looks_at = "graph breaks that torch.compile reports (TORCH_TRACE, TORCH_LOGS=graph_breaks)",
    .find = FindGraphBreaks,
    .say = SayGraphBreak,
    .needs = Needs::kTorchCompile,
    .thresholds = {policy::kManyGraphBreaks}};
}  // namespace xlaprof
