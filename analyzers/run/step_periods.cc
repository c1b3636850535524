#include "analyzers/run/step_periods.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

// Returns the periods of steps that have times.
std::map<int64_t, std::vector<Interval>> OfMarkedSteps(const Steps& steps) {
  std::map<int64_t, std::vector<Interval>> periods;
  for (const StepSpan& step : steps.all) {
    if (!step.steady()) continue;
    std::vector<Interval>& of = periods[step.process_id];
    const int64_t end_ns = *step.ts_ns + *step.dur_ns;
    const int64_t begin_ns = of.empty() ? *step.ts_ns : std::min(*step.ts_ns, of.back().end_ns);
    if (end_ns > begin_ns && (of.empty() || end_ns > of.back().end_ns)) {
      of.push_back({of.empty() ? begin_ns : of.back().end_ns, end_ns});
    }
  }
  return periods;
}

// Returns when the host asked for the last execution of each step, by the step's id.
std::map<int64_t, int64_t> LastRequests(const Executions& executions) {
  std::map<int64_t, int64_t> last_ns;
  for (const ExecutionRow& row : executions.rows) {
    const OptInt asked_ns = row.enqueue_ts_ns ? row.enqueue_ts_ns : row.ts_ns;
    if (!row.step_id || !asked_ns) continue;
    int64_t& last = last_ns.try_emplace(*row.step_id, *asked_ns).first->second;
    last = std::max(last, *asked_ns);
  }
  return last_ns;
}

// Adds the periods of processes none of whose steps has a time.
void AddUnmarked(const Steps& steps, const Executions& executions,
                 std::map<int64_t, std::vector<Interval>>& periods) {
  const std::map<int64_t, int64_t> last_ns = LastRequests(executions);
  std::set<int64_t> is_marked;
  for (const StepSpan& step : steps.all) {
    if (step.ts_ns && step.dur_ns) is_marked.insert(step.process_id);
  }
  const StepSpan* before = nullptr;
  for (const StepSpan& step : steps.all) {
    const StepSpan* previous = std::exchange(before, &step);
    if (previous == nullptr || previous->process_id != step.process_id || step.warm_up) continue;
    if (is_marked.contains(step.process_id)) continue;
    const auto begin = last_ns.find(previous->id), end = last_ns.find(step.id);
    if (begin == last_ns.end() || end == last_ns.end() || end->second <= begin->second) continue;
    std::vector<Interval>& of = periods[step.process_id];
    if (of.empty() || begin->second >= of.back().end_ns) of.push_back({begin->second, end->second});
  }
}

}  // namespace

absl::StatusOr<StepPeriods> StepPeriods::Of(const Run& run) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  StepPeriods periods{.steady = OfMarkedSteps(*steps)};
  AddUnmarked(*steps, *executions, periods.steady);
  return periods;
}

}  // namespace xlaprof
