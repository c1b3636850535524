// Compares the inputs of two programs by the names that JAX gives them, such as batch['image'].
#pragma once

#include <optional>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// Returns the inputs that only one of the programs has: the argument of the function that they
// belong to, and the first of them in each program. Returns nothing if both have the same, or if an
// input has no name. The positions of inputs tell nothing then, because a missing one moves others.
std::optional<GraphDifference> OtherNamedInputs(const PrintedGraph& before,
                                                const PrintedGraph& after);

}  // namespace xlaprof
