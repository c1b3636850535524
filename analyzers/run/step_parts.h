// Where each step's time went: the leading thread's activities, step by step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzers/run/host_timeline.h"
#include "analyzers/run/steps.h"

namespace xlaprof {

// What a step's time is divided into, in order of display.
inline constexpr std::array kStepParts = {Doing::kTracing,  Doing::kCompile, Doing::kExecute,
                                          Doing::kTransfer, Doing::kInput,   Doing::kUserCode,
                                          Doing::kRuntime,  Doing::kNothing};

// A step that has a start and a length.
struct TimedStep {
  StepSpan span;
  Interval time;
  OptInt number;  // the user's
};

// Those of the store's slice, by process and ordinal.
absl::StatusOr<std::vector<TimedStep>> TimedSteps(const Run& run);

// ns of each of kStepParts; they sum to the step's length. Zeros: no host thread recorded.
using StepParts = std::array<int64_t, kStepParts.size()>;

// Of each of the steps, in their order.
absl::StatusOr<std::vector<StepParts>> PartsOfSteps(const Run& run,
                                                    const std::vector<TimedStep>& steps);

}  // namespace xlaprof
