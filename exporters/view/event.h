// Describes one event of the viewer: its own data, its flows, and the totals of its name
// (docs/formats/view.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "exporters/view/lanes.h"

namespace xlaprof {

// Returns {"id", "lane", "row", "ts_ns", "dur_ns", "name"}, or NotFound if no lane has such an
// event.
absl::StatusOr<nlohmann::ordered_json> EventBriefJson(const Store& store, const ViewLanes& lanes,
                                                      int64_t id);

// Returns the answer to `event`.
absl::StatusOr<std::string> EventJson(const Store& store, const ViewLanes& lanes, int64_t id);

}  // namespace xlaprof
