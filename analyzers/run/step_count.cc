#include "analyzers/run/step_count.h"

#include "analyzers/policy.h"

namespace xlaprof {

bool IsOften(int64_t count, std::optional<double> per_step) {
  return per_step ? *per_step >= policy::kOftenPerStep && count >= policy::kNotOnce
                  : count >= policy::kOftenWithoutSteps;
}

absl::StatusOr<StepCounts> StepCounts::Of(const Run& run) {
  const Store& store = run.store();
  StepCounts counts;
  for (const char* sql : {"SELECT nullif(count(*), 0) FROM step",
                          "SELECT nullif(max(mark_step), 0) FROM metrics_report",
                          "SELECT max(steps) FROM profiler_line"}) {
    XP_TRY(counts.all, store.One<int64_t>(sql));
    if (counts.all) break;
  }
  XP_TRY(store.Each(
      "SELECT coalesce(process_id, 0), count(*) FROM step GROUP BY 1",
      [&](int64_t process_id, int64_t count) { counts.by_process[process_id] = count; }));
  return counts;
}

}  // namespace xlaprof
