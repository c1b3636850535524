// Finds where a program's code uses numbers that are inputs of its graph.
#pragma once

#include <vector>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/run/user_code.h"

namespace xlaprof {

// Returns the places in the user's code at which scalar inputs of the graph are recorded, each
// once, in order.
std::vector<SourcePlace> PlacesOfScalarInputs(const PrintedGraph& graph, const UserCode& code);

}  // namespace xlaprof
