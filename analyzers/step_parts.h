// Where each step's time went: the leading thread's activities, step by step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzers/host_activity.h"
#include "analyzers/steps.h"

namespace xlaprof {

// What a step's time is divided into, in order of display.
inline constexpr std::array kStepParts = {Doing::kTracing,  Doing::kCompile, Doing::kExecute,
                                          Doing::kTransfer, Doing::kInput,   Doing::kUserCode,
                                          Doing::kRuntime,  Doing::kNothing};

struct StepParts {
  StepSpan step;                                // has a start and a length
  OptInt number;                                // the user's
  std::array<int64_t, kStepParts.size()> ns{};  // sum to its length; zeros: no host thread recorded
};

// Timed steps of the store's slice, by process and ordinal.
absl::StatusOr<std::vector<StepParts>> PartsOfSteps(const Store& store);

}  // namespace xlaprof
