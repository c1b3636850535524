// What the viewer shows around the timeline: lanes, steps, findings with their reasons
// (docs/formats/view.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzers/report.h"
#include "exporters/view/lanes.h"

namespace xlaprof {

// The answer to `run.json`. `source_roots`: where source lines may be quoted from.
absl::StatusOr<std::string> RunJson(const Store& store, const ViewLanes& lanes,
                                    const Report& report,
                                    const std::vector<std::filesystem::path>& source_roots);

}  // namespace xlaprof
