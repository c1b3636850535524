#include "analyzers/evidence/step_count.h"

namespace xlaprof {

absl::StatusOr<std::optional<int64_t>> StepCount(const Store& store) {
  for (const char* sql : {"SELECT nullif(count(*), 0) FROM step",
                          "SELECT nullif(max(mark_step), 0) FROM metrics_report",
                          "SELECT max(steps) FROM profiler_line"}) {
    XP_TRY(auto steps, store.One<int64_t>(sql));
    if (steps) return steps;
  }
  return std::optional<int64_t>();
}

absl::StatusOr<std::map<int64_t, int64_t>> StepsByProcess(const Store& store) {
  std::map<int64_t, int64_t> steps;
  XP_TRY(store.Each("SELECT coalesce(process_id, 0), count(*) FROM step GROUP BY 1",
                    [&](int64_t process_id, int64_t count) { steps[process_id] = count; }));
  return steps;
}

}  // namespace xlaprof
