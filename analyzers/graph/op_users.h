// Finds which ops of a program wait for an op's result.
#pragma once

#include <vector>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// Returns, for each node of the graph's entry computation, the nodes that compute something from
// its result. Tuples, their elements and bitcasts compute nothing: their own users stand for them.
// Nodes of other computations have no users here.
std::vector<std::vector<int>> OpUsers(const PrintedGraph& graph);

}  // namespace xlaprof
