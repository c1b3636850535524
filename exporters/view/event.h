// One event of the viewer: what it says about itself, where it leads, and others of its name
// (docs/formats/view.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "exporters/view/lanes.h"

namespace xlaprof {

// {"id", "lane", "row", "ts_ns", "dur_ns", "name"}. NotFound if there is no such event in a lane.
absl::StatusOr<nlohmann::ordered_json> EventBriefJson(const Store& store, const ViewLanes& lanes,
                                                      int64_t id);

// The answer to `event`.
absl::StatusOr<std::string> EventJson(const Store& store, const ViewLanes& lanes, int64_t id);

}  // namespace xlaprof
