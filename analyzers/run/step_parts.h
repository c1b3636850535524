// The parts of each step's time: the leading thread's activities, step by step.
#pragma once

#include <array>
#include <cstdint>
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

}  // namespace xlaprof
