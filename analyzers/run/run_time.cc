#include "analyzers/run/run_time.h"

#include <algorithm>

#include "analyzers/run/device_time.h"
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
    if constexpr (requires { row.dur_from; }) return row.dur_from == TimeSource::kLog;
    return false;
  };
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (!row.ts_ns || is_of_log(row)) continue;
      const int64_t end_ns = *row.ts_ns + row.dur_ns.value_or(0);
      auto [span, is_new] =
          spans.try_emplace(row.process_id.value_or(0), Interval{*row.ts_ns, end_ns});
      if (is_new) continue;
      span->second.begin_ns = std::min(span->second.begin_ns, *row.ts_ns);
      span->second.end_ns = std::max(span->second.end_ns, end_ns);
    }
  };
  add(steps->rows);
  add(compiles->rows);
  add(executions->rows);
  RunTimes times;
  for (const auto& [process_id, span] : spans) times.by_process[process_id] = span.length_ns();
  return times;
}

}  // namespace xlaprof
