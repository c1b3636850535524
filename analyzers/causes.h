// Links findings, which says which finding explains which other, and orders them. A fallback changes sizes, sizes make a graph
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

// Orders findings that have words: a root that needs fixing before one that is only mentioned, one
// that stops the program before one that costs time, then the most expensive first, each followed
// by its consequences. Sets fingerprints and the fields that describe the links. A root is at least
// as severe as its consequences.
Findings OrderByCause(Findings findings, const CauseLinks& links);

}  // namespace xlaprof
