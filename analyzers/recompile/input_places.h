// Finds where a program's code makes or first uses the inputs of its graph.
#pragma once

#include <vector>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/run/user_code.h"

namespace xlaprof {

// Returns the places in the user's code at which scalar inputs of the graph are recorded, each
// once, in order.
std::vector<SourcePlace> PlacesOfScalarInputs(const PrintedGraph& graph, const UserCode& code);

// Returns the place in the user's code at which inputs of this shape are recorded. Returns an empty
// place unless there is exactly one.
SourcePlace PlaceOfInput(const PrintedGraph& graph, const std::string& shape, const UserCode& code);

}  // namespace xlaprof
