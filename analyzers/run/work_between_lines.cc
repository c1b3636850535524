#include "analyzers/run/work_between_lines.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/early_cuts.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

struct Start {
  int64_t ts_ns = 0;
  const ExecutionRow* row = nullptr;
};

// Returns the executions of a process in the order in which the host started them.
absl::StatusOr<std::vector<Start>> StartsOf(const Run& run, int64_t process_id) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::vector<Start> starts;
  for (const ExecutionRow& row : executions->rows) {
    const OptInt ts_ns = RequestTime(row);
    if (ts_ns && row.process_id.value_or(0) == process_id) starts.push_back({*ts_ns, &row});
  }
  std::ranges::stable_sort(starts, {}, &Start::ts_ns);
  return starts;
}

// Returns the executions after which an op without lowering runs on the CPU, which takes time, too.
absl::StatusOr<std::set<int64_t>> ExecutionsOfFallbacks(const Run& run) {
  XP_TRY(const EarlyCuts* cuts, run.Get<EarlyCuts>());
  std::set<int64_t> ids;
  for (const EarlyCut& cut : cuts->cuts) {
    if (!cut.op.empty()) ids.insert(cut.executions.begin(), cut.executions.end());
  }
  return ids;
}

// Returns the longest time that tracing between two executions takes.
absl::StatusOr<OptInt> LongestTracing(const Run& run, const std::vector<Start>& starts) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  OptInt most_nodes;
  std::set<int64_t> seen;
  for (const Start& start : starts) {
    if (!start.row->graph_id || !seen.insert(*start.row->graph_id).second) continue;
    const std::vector<const GraphRow*> forms = graphs->FormsOf(start.row->graph_id);
    // HLO has more nodes than the operations that Python traces.
    const auto traced = std::ranges::find_if(
        forms, [](const GraphRow* form) { return form->printed_as == PrintedForm::kIrText; });
    for (const GraphRow* form : forms) {
      if (form->node_count && (traced == forms.end() || form == *traced))
        most_nodes = std::max(most_nodes.value_or(0), *form->node_count);
    }
  }
  if (!most_nodes) return most_nodes;
  return *most_nodes * policy::kTracedOperationNs;
}

}  // namespace

absl::StatusOr<std::optional<WorkBetweenLines>> FindWorkBetweenLines(
    const Run& run, int64_t process_id, std::span<const LongGap> gaps) {
  XP_TRY(const std::vector<Start> starts, StartsOf(run, process_id));
  XP_TRY(const std::set<int64_t> of_fallbacks, ExecutionsOfFallbacks(run));
  XP_TRY(const Sites* sites, run.Get<Sites>());
  XP_TRY(const OptInt tracing_ns, LongestTracing(run, starts));
  if (!tracing_ns) return std::nullopt;
  std::map<std::pair<SourcePlace, SourcePlace>, WorkBetweenLines> by_lines;
  for (const LongGap& gap : gaps) {
    const auto after = std::ranges::lower_bound(starts, gap.gap.begin_ns, {}, &Start::ts_ns);
    if (after == starts.begin() || after == starts.end()) continue;
    const ExecutionRow &first = *std::prev(after)->row, &second = *after->row;
    if (of_fallbacks.contains(first.id)) continue;
    const SourcePlace before_place = sites->SubjectOf(first.site_id).place(),
                      after_place = sites->SubjectOf(second.site_id).place();
    if (!before_place.line || !after_place.line || before_place.IsLineOf(after_place)) continue;
    if (gap.main_ns < 2 * *tracing_ns) continue;
    WorkBetweenLines& work = by_lines[{before_place, after_place}];
    work.ns += gap.main_ns;
    ++work.gaps;
  }
  const auto most = std::ranges::max_element(
      by_lines, {}, [](const auto& of_lines) { return of_lines.second.ns; });
  if (most == by_lines.end()) return std::nullopt;
  WorkBetweenLines work = most->second;
  std::tie(work.before, work.after) = most->first;
  return work;
}

}  // namespace xlaprof
