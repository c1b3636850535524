// Links findings: which finding explains which other. A fallback changes sizes, sizes make a graph
// recompile, and compiling leaves the device idle. Each link needs evidence in the run.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// For each finding, the index of the finding that explains it. Links have no cycles.
using CauseLinks = std::vector<std::optional<size_t>>;

// Finds the links. The findings' figures may get what a link shows, such as the mask that changes
// a size. Their words are not needed.
absl::StatusOr<CauseLinks> LinkCauses(const Run& run, Findings& findings);

}  // namespace xlaprof
