// How long each device stood idle in each step: beside what the host did, which it overlaps.
#pragma once

#include <string>
#include <vector>

#include "analyzers/run/step_parts.h"

namespace xlaprof {

struct IdleInSteps {
  std::string device;
  int64_t process_id = 0;
  // One a step: ns in which the device neither worked nor was inside an execution. Empty for steps
  // of other processes, and for those in which nothing shows that the device was looked at: it
  // worked only before, or only behind.
  std::vector<OptInt> idle_ns;
};

// One entry a device whose work the store has, in DeviceTimes' order, of the steps in theirs.
absl::StatusOr<std::vector<IdleInSteps>> IdleOfSteps(const Run& run,
                                                     const std::vector<TimedStep>& steps);

}  // namespace xlaprof
