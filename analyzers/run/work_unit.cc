#include "analyzers/run/work_unit.h"

#include <algorithm>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"

namespace xlaprof {

OptInt RunTimes::Of(int64_t process_id) const {
  const auto found = by_process.find(process_id);
  return found == by_process.end() ? OptInt() : OptInt(found->second);
}

OptInt RunTimes::longest() const {
  OptInt longest;
  for (const auto& [process_id, ns] : by_process) longest = std::max(longest.value_or(0), ns);
  return longest;
}

absl::StatusOr<RunTimes> RunTimes::Of(const Run& run) {
  XP_TRY(const StepRows* steps, run.Get<StepRows>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::map<int64_t, Interval> spans;
  // A log of compilations alone does not show how long the run was.
  const auto is_of_log = [](const auto& row) {
    if constexpr (requires { row.dur_from; })
      return row.dur_from == TimeSource::kLog && !row.track_id;
    return false;
  };
  const auto add = [&](OptInt process_id, Interval interval) {
    auto [span, is_new] = spans.try_emplace(process_id.value_or(0), interval);
    if (is_new) return;
    span->second.begin_ns = std::min(span->second.begin_ns, interval.begin_ns);
    span->second.end_ns = std::max(span->second.end_ns, interval.end_ns);
  };
  const auto add_all = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (row.ts_ns && !is_of_log(row))
        add(row.process_id, {*row.ts_ns, *row.ts_ns + row.dur_ns.value_or(0)});
    }
  };
  add_all(steps->rows);
  add_all(compiles->rows);
  add_all(executions->rows);
  // A profile may show only the host's side of an execution.
  for (const ExecutionRow& row : executions->rows) {
    if (!row.ts_ns && row.enqueue_ts_ns && row.host_wait_ns)
      add(row.process_id, {*row.enqueue_ts_ns, *row.enqueue_ts_ns + *row.host_wait_ns});
  }
  RunTimes times;
  for (const auto& [process_id, span] : spans)
    times.timed_by_process[process_id] = span.length_ns();
  XP_TRY(const ObservedProcesses* observed, run.Get<ObservedProcesses>());
  for (const ObservedProcessRow& row : observed->rows)
    add(row.process_id, {row.ts_ns, row.ts_ns + row.dur_ns});
  for (const auto& [process_id, span] : spans) times.by_process[process_id] = span.length_ns();
  return times;
}

absl::StatusOr<WorkUnit> WorkUnit::Of(const Run& run) {
  WorkUnit unit;
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  if (!steps->all.empty() || (metrics->last && metrics->last->mark_step)) return unit;
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  // A program on several devices runs on each of them at once.
  std::map<std::string, std::map<std::pair<OptInt, OptText>, std::vector<int64_t>>> by_name;
  int64_t all_ns = 0;
  for (const ExecutionRow& row : executions->rows) {
    if (!row.ts_ns || row.dur_ns.value_or(0) <= 0) continue;
    all_ns += *row.dur_ns;
    const GraphRow* graph = graphs->Find(row.graph_id);
    if (graph != nullptr && graph->name)
      by_name[*graph->name][{row.process_id, row.device}].push_back(*row.dur_ns);
  }
  for (auto& [name, by_device] : by_name) {
    int64_t ns = 0;
    std::vector<int64_t>* most = nullptr;
    for (auto& [device, lengths] : by_device) {
      for (int64_t length_ns : lengths) ns += length_ns;
      if (most == nullptr || lengths.size() > most->size()) most = &lengths;
    }
    const double share = double(ns) / double(all_ns);
    if (share < policy::kUnitShare || int64_t(most->size()) < policy::kUnitExecutions) continue;
    std::ranges::sort(*most);
    unit.program = Program{name, int64_t(most->size()), Median(*most).value_or(0), share};
  }
  return unit;
}

}  // namespace xlaprof
