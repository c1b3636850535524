// Ends of flows that a source tells apart from the events that they join: a thread and a time.
#pragma once

#include <span>
#include <vector>

#include "profiler/store/events.h"

namespace xlaprof {

struct FlowPoint {
  int64_t ts_ns = 0;
  uint64_t flow = 0;
  FlowEnd end = FlowEnd::kOut;
  int64_t offset = 0;  // in the source
};

// Gives the flows of `points` to the events around them, and returns those that found none, or one
// that has such a flow already. `events` are one track's, sorted by start, then longest first;
// sorts `points`.
UnboundFlows BindFlows(std::span<Event> events, std::span<FlowPoint> points);

}  // namespace xlaprof
