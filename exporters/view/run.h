// Describes what a run shows: its lanes and steps (docs/formats/view.md).
#pragma once

#include <string>

#include "analyzers/run/run.h"
#include "exporters/view/lanes.h"

namespace xlaprof {

// Returns the answer to `run.json`.
absl::StatusOr<std::string> RunJson(const Run& run, const ViewLanes& lanes);

}  // namespace xlaprof
