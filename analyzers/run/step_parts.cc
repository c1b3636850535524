#include "analyzers/run/step_parts.h"

#include <absl/container/flat_hash_map.h>

#include "analyzers/run/device_idle.h"

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

absl::StatusOr<std::vector<IdleInSteps>> IdleOfSteps(const Run& run,
                                                     const std::vector<TimedStep>& steps) {
  std::vector<IdleInSteps> all;
  if (steps.empty()) return all;
  XP_TRY(const IdleTime* times, run.Get<IdleTime>());
  for (const DeviceIdle& device : times->devices) {
    IdleInSteps& idle = all.emplace_back();
    idle.device = device.time.device;
    idle.process_id = device.time.process_id;
    if (device.takes_part && device.steady.length_ns() > 0) {
      idle.steady_ns = device.steady.length_ns();
      idle.steady_idle_ns = device.idle_ns;
    }
    const Interval seen{device.occupied.front().begin_ns, device.occupied.back().end_ns};
    for (const TimedStep& step : steps) {
      OptInt& idle_ns = idle.idle_ns.emplace_back();
      if (device.takes_part && step.span.process_id == device.time.process_id &&
          step.time.begin_ns < seen.end_ns && step.time.end_ns > seen.begin_ns)
        idle_ns = step.time.length_ns() - Overlap(device.occupied, step.time);
    }
  }
  return all;
}

}  // namespace xlaprof
