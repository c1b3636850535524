// Joins idle time that has one cause, whichever of several things the host did meanwhile: it starts
// work too late.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analyzers/run/device_idle.h"
#include "analyzers/run/idle_causes.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// Small executions between which the device idles.
struct SmallExecutions {
  int64_t count = 0, mean_ns = 0;
  SourcePlace function;  // the user's function that starts most of them; empty if unknown
};
// Returns the small executions of a run whose device idles most of the time between them; nothing if
// there are few, or only a few in each unit of work.
absl::StatusOr<std::optional<SmallExecutions>> FindSmallExecutions(const Run& run,
                                                                   const DeviceIdle& device);

using CausesOfIdleTime = std::vector<std::pair<IdleCause, IdleOfCause>>;  // longest first

// Merges what the host does while it starts small executions into one cause.
CausesOfIdleTime MergeLaunching(CausesOfIdleTime causes);

// Merges the late launches of kernels in each scope into the largest of them.
CausesOfIdleTime MergeLateLaunches(CausesOfIdleTime causes);

}  // namespace xlaprof
