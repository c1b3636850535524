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

}  // namespace xlaprof
