#include "analyzers/run/step_idle.h"

#include "analyzers/run/device_idle.h"

namespace xlaprof {

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
