#include "analyzers/run/step_count.h"

#include "analyzers/policy.h"
#include "analyzers/run/metrics.h"

namespace xlaprof {

bool IsOften(int64_t count, std::optional<double> per_step) {
  return per_step ? *per_step >= policy::kOftenPerStep && count >= policy::kNotOnce
                  : count >= policy::kOftenWithoutSteps;
}

bool IsInEveryStep(std::optional<double> per_step) {
  return per_step.value_or(0) >= policy::kEveryStep;
}

absl::StatusOr<StepCounts> StepCounts::Of(const Run& run) {
  const Store& store = run.store();
  StepCounts counts;
  XP_TRY(counts.all, store.One<int64_t>("SELECT nullif(count(*), 0) FROM step"));
  if (!counts.all) {
    XP_TRY(const Metrics* metrics, run.Get<Metrics>());
    if (metrics->last && metrics->last->mark_step.value_or(0) > 0)
      counts.all = metrics->last->mark_step;
  }
  if (!counts.all) {
    XP_TRY(counts.all, store.One<int64_t>("SELECT max(steps) FROM profiler_line"));
  }
  XP_TRY(store.Each(
      "SELECT coalesce(process_id, 0), count(*) FROM step GROUP BY 1",
      [&](int64_t process_id, int64_t count) { counts.by_process[process_id] = count; }));
  return counts;
}

}  // namespace xlaprof
