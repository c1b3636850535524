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

absl::StatusOr<std::optional<int64_t>> StepCount(const Store& store,
                                                 const std::set<int64_t>& process_ids) {
  int64_t steps = 0;
  for (int64_t id : process_ids) {
    XP_TRY(auto count, store.One<int64_t>("SELECT count(*) FROM step WHERE process_id = ?1", id));
    steps += count.value_or(0);
  }
  if (steps == 0) return StepCount(store);
  return steps;
}

}  // namespace xlaprof
