// Opens one track after the other, with the event columns that a timeline shows.
#pragma once

#include <optional>

#include "base/status.h"
#include "profiler/store/ordered_events.h"

namespace xlaprof {

// Opens track `track_id` in `events`, which is made at the first call. `has_flows` says whether any
// event of the run has flows.
inline absl::Status OpenEventsOf(const Store& store, int64_t track_id, bool has_flows,
                                 std::optional<OrderedEvents>& events) {
  if (!events) {
    const uint32_t unused = has_flows ? kDepth : kDepth | kFlowIn | kFlowOut;
    XP_TRY(OrderedEvents made, OrderedEvents::Make(store, kAllEventColumns & ~unused, true));
    events.emplace(std::move(made));
  }
  return events->Open(track_id);
}

}  // namespace xlaprof
