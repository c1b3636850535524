// Finds what lies around the idle time of a device: what the host did, which lines, which launches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/run/device_idle.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/idle_causes.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// Finds the fetches from the device after which it idles: the host waits for a value, and then works
// with it while the device has nothing to do.
struct FetchesBeforeGaps {
  int64_t gaps = 0;  // gaps in whose first half, or shortly before, a fetch ended
  std::string name;  // of the event of the first such fetch, without its class; "" if not recorded
};

absl::StatusOr<FetchesBeforeGaps> FetchesBefore(const Run& run, int64_t process_id,
                                                std::span<const Interval> gaps);

// Finds work of the host that nothing recorded, but that lies between two executions which different
// lines of the user's code start.
struct WorkBetweenLines {
  SourcePlace before, after;
  int64_t gaps = 0;
  int64_t ns = 0;  // the time in these gaps
};

// Returns the two lines between which the host worked longest in these gaps, if there are any. `main_ns`
// of a gap is the time that counts. A lazy runtime traces in such times, too, so only gaps count of
// which tracing takes less than half, even if it traces the run's largest graph.
absl::StatusOr<std::optional<WorkBetweenLines>> FindWorkBetweenLines(const Run& run,
                                                                     int64_t process_id,
                                                                     std::span<const LongGap> gaps);

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
