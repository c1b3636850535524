#include "analyzers/run/step_parts.h"

#include <absl/container/flat_hash_map.h>

namespace xlaprof {

absl::StatusOr<std::vector<TimedStep>> TimedSteps(const Run& run) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  absl::flat_hash_map<int64_t, OptInt> number;  // by step id
  XP_TRY(run.store().Each("SELECT id, number FROM step",
                          [&](int64_t id, OptInt value) { number[id] = value; }));
  std::vector<TimedStep> timed;
  for (const StepSpan& step : steps->all) {
    int64_t end_ns;
    if (!step.ts_ns || !step.dur_ns || __builtin_add_overflow(*step.ts_ns, *step.dur_ns, &end_ns))
      continue;
    timed.push_back({step, {*step.ts_ns, end_ns}, number[step.id]});
  }
  return timed;
}

absl::StatusOr<std::vector<StepParts>> PartsOfSteps(const Run& run,
                                                    const std::vector<TimedStep>& steps) {
  std::vector<StepParts> all;
  all.reserve(steps.size());
  for (const TimedStep& step : steps) {
    StepParts& parts = all.emplace_back();
    XP_TRY(const HostTimeline* timeline, run.Get<HostTimeline>(step.span.process_id));
    if (!timeline->has_events()) continue;
    const auto totals = timeline->TotalsDuring(step.time);
    for (size_t part = 0; part < parts.size(); ++part)
      parts[part] = totals[size_t(kStepParts[part])];
  }
  return all;
}

}  // namespace xlaprof
