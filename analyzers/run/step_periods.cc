#include "analyzers/run/step_periods.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzers/policy.h"
#include "analyzers/run/each_batch.h"
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
    const OptInt asked_ns = RequestTime(row);
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

// Returns the ends of the calls that fetch a batch, by host thread, in order.
absl::StatusOr<std::map<int64_t, std::vector<int64_t>>> BatchesByThread(const Run& run) {
  const Store& store = run.store();
  std::map<int64_t, std::vector<int64_t>> ends_ns;
  const StringId input = store.Find(TextOf(Category::kInput));
  if (input == 0) return ends_ns;
  XP_TRY(EachEvent(store,
                   {.columns = kStart | kDuration | kName | kCategory, .categories = {input}},
                   [&](const EventBatch& batch, size_t i) {
                     if (batch.category[i] == input && batch.dur_ns[i] >= 0 &&
                         store.Text(batch.name[i]).ends_with("__next__"))
                       ends_ns[batch.track_id].push_back(batch.ts_ns[i] + batch.dur_ns[i]);
                   }));
  return ends_ns;
}

// Adds the periods of processes that have none, if a loader hands out batches. The first batch is
// left out, because starting the loader's workers takes long.
absl::Status AddByBatch(const Run& run, StepPeriods& periods) {
  XP_TRY(auto ends_by_thread, BatchesByThread(run));
  for (auto& [track_id, ends_ns] : ends_by_thread) {
    if (int64_t(ends_ns.size()) < int64_t(policy::kFewestBatches)) continue;
    XP_TRY(const std::optional<int64_t> process,
           run.store().One<int64_t>("SELECT process_id FROM track WHERE id = ?1", track_id));
    if (!process || (periods.steady.contains(*process) && !periods.by_batch.contains(*process)))
      continue;
    std::ranges::sort(ends_ns);
    std::vector<Interval> of_thread;
    for (size_t i = 1; i + 1 < ends_ns.size(); ++i)
      if (ends_ns[i + 1] > ends_ns[i]) of_thread.push_back({ends_ns[i], ends_ns[i + 1]});
    periods.by_batch.insert(*process);
    std::vector<Interval>& of_process = periods.steady[*process];
    if (of_thread.size() > of_process.size()) of_process = std::move(of_thread);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StepPeriods> StepPeriods::Of(const Run& run) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  StepPeriods periods{.steady = OfMarkedSteps(*steps)};
  AddUnmarked(*steps, *executions, periods.steady);
  XP_TRY(AddByBatch(run, periods));
  return periods;
}

}  // namespace xlaprof
