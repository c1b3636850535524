// The ends of flows that a source describes apart from the events that they join, by a thread and a
// time.
#pragma once

#include <span>
#include <vector>

#include "profiler/store/events.h"

namespace xlaprof {

struct FlowPoint {
  int64_t ts_ns = 0;
  uint64_t flow = 0;
  FlowEnd end = FlowEnd::kOut;
  int64_t offset = 0;  // offset in the source
};

// Attaches the flows of `points` to the events around them. Returns the flows that found no event,
// or an event that has another such flow already. `events` are those of one track, sorted by start,
// then the longest first. Sorts `points`.
UnboundFlows BindFlows(std::span<Event> events, std::span<FlowPoint> points);

}  // namespace xlaprof
