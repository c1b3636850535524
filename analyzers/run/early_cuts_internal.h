// The parts of EarlyCuts::Of that are in files of their own.
#pragma once

#include <string_view>

#include "analyzers/run/early_cuts.h"

namespace xlaprof {

// Loads the ops without lowering and the calls of which only stacks are known, and finds the cuts of each op.
// An op fetches tensors, but a read of a Python number fetches a scalar. `tables` is "" for the
// chosen part of the run, or "main." for all.
absl::Status LoadFallbackOps(const Run& run, std::string_view tables, EarlyCuts& out);

// Limits the costs of the measured cuts: what is left of the time that was measured without
// compilations and without the device's work for the steps themselves.
absl::Status LimitCosts(const Run& run, EarlyCuts& cuts);

// Estimates the times of the cuts of which only some executions were measured. All waits together are
// not longer than all fetches, and no cost is longer than the run without its compilations.
absl::Status EstimateTimes(const Run& run, EarlyCuts& cuts);

}  // namespace xlaprof
