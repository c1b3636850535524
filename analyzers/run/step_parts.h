// What the time of each step consists of: the host's activities, and the idle time of devices.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/run/host_timeline.h"
#include "analyzers/run/steps.h"

namespace xlaprof {

// The activities into which a step's time is divided, in order of display.
inline constexpr std::array kStepParts = {
    Doing::kTracing,  Doing::kCompile, Doing::kExecute,  Doing::kTransfer, Doing::kInput,
    Doing::kAllocate, Doing::kCapture, Doing::kUserCode, Doing::kRuntime,  Doing::kNothing};

// A step that has a start and a length.
struct TimedStep {
  StepSpan span;
  Interval time;
  OptInt number;  // the user's number
};

// Returns the steps of the chosen part that have a time, by process and ordinal.
absl::StatusOr<std::vector<TimedStep>> TimedSteps(const Run& run);

// The ns of each of kStepParts, which sum to the step's length. All are 0 if no host thread was
// recorded.
using StepParts = std::array<int64_t, kStepParts.size()>;

// Returns the parts of each step, in the order of `steps`.
absl::StatusOr<std::vector<StepParts>> PartsOfSteps(const Run& run,
                                                    const std::vector<TimedStep>& steps);

// Finds how long each device was idle in each step, and in the steady time, which includes the time
// between steps. This time overlaps the parts of the host's time.
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
