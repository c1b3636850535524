// Finds how long each device was idle in each step, and in the steady time, which includes the time
// between steps. This time overlaps the parts of the host's time.
#pragma once

#include <string>
#include <vector>

#include "analyzers/run/step_parts.h"

namespace xlaprof {

struct IdleInSteps {
  std::string device;
  int64_t process_id = 0;
  // Per step, the ns in which the device neither worked nor was inside an execution. Empty for
  // steps of other processes, and for steps before the device's first work or after its last,
  // because it may not have been recorded then.
  std::vector<OptInt> idle_ns;
  // As in DeviceIdle, with which findings compare idle time; 0 if the device takes no part.
  int64_t steady_ns = 0, steady_idle_ns = 0;
};

// Returns one entry per device whose work the store has, in the order of DeviceTimes. Their values
// are in the order of `steps`.
absl::StatusOr<std::vector<IdleInSteps>> IdleOfSteps(const Run& run,
                                                     const std::vector<TimedStep>& steps);

}  // namespace xlaprof
