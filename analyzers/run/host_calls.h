// Names what the host did at one point of the timeline, by the events that its threads recorded.
#pragma once

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
