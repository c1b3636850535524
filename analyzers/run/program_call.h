// Finds the line that calls a compiled program.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// Returns the line of a graph's compilation, or else of its executions, with the graph's hash. If none
// has a line, returns that of CallByName. The subject has no line if no source shows one.
absl::StatusOr<Subject> CallOf(const Run& run, int64_t graph_id);

// Returns the line that calls all functions of this name that JAX compiled, whether the log that names
// them was joined with the rest or not. Returns an empty subject if there are none or several such
// lines.
absl::StatusOr<Subject> CallByName(const Run& run, std::string_view function);

}  // namespace xlaprof
