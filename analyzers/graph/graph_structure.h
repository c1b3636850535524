// Finds how the structure of two graphs differs: nodes that only one of them has, other results, or
// values that are read elsewhere.
#pragma once

#include <optional>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/graph/graph_listing.h"

namespace xlaprof {

// Returns the one difference that explains all added and removed nodes best: a change of the shared
// inputs, of a number that is a constant or an input, of the optimizer's state, of a loop's count,
// of the results, or else of an op. Returns nothing if the structure is the same.
std::optional<GraphDifference> StructureChange(const AlignedGraphs& graphs, NewStateIs new_state);

}  // namespace xlaprof
