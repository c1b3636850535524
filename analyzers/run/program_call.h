// Finds the line that calls a compiled program.
#pragma once

#include <cstdint>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// Returns the line of a graph's compilation, or else of its executions, with the graph's hash. The
// subject has no line if no source shows one.
absl::StatusOr<Subject> CallOf(const Run& run, int64_t graph_id);

}  // namespace xlaprof
