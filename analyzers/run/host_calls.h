// Finds what the host's threads called: the user's functions, and calls during idle time of a device.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// The user's Python functions that only the host runs, from profiles with Python's calls: the names of the calls ("$stream.py:12 augment") of functions in the user's code, in none of whose
// calls a thread traced, compiled or launched work, or began a step. They are sorted out by name,
// so a function that launches in one of its calls is in no call a function of the host alone.
struct HostFunctions {
  absl::flat_hash_set<StringId> names;

  // Returns the functions that `thread` calls. `launchers` are the threads whose launches count.
  static absl::StatusOr<HostFunctions> On(const Run& run, int64_t thread,
                                          std::span<const int64_t> launchers);
};

// Returns the user's function that is the innermost in most of these intervals, as far as `thread`
// recorded Python's calls; an empty place if there is none.
absl::StatusOr<SourcePlace> FunctionAround(const Run& run, int64_t thread,
                                           std::span<const Interval> intervals);

// Returns "augment (stream.py:12)" for the place of a function.
std::string FunctionText(const SourcePlace& place);

// Names what the host did at one point of the timeline, by the events that its threads recorded.
struct HostCall {
  std::string name;
  Interval time;
};

// The innermost events that cover at least half of an interval. Events of the profiler itself are
// left out.
struct HostCalls {
  std::optional<HostCall> runtime;  // a call of the runtime or the driver, or an operator
  std::optional<HostCall> python;   // a call that a Python tracer recorded
  // Returns the call that says more.
  const std::optional<HostCall>& main() const { return runtime ? runtime : python; }
};
// Returns them for each interval.
absl::StatusOr<std::vector<HostCalls>> CallsDuring(const Run& run, int64_t process_id,
                                                   std::span<const Interval> intervals);

// The events next to an interval in which nothing was recorded.
struct HostNeighbours {
  std::optional<HostCall> before;  // ended last before it
  std::optional<HostCall> after;   // began first after it
};
absl::StatusOr<HostNeighbours> NeighboursOf(const Run& run, int64_t process_id, Interval interval);

// The user's lines that started the last execution before an interval and the first after it began.
// Empty if no source names them.
struct LinesAround {
  SourcePlace before, after;
};
absl::StatusOr<LinesAround> LinesAroundTime(const Run& run, int64_t process_id, Interval interval);

}  // namespace xlaprof
