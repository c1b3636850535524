// Declarations that the two ways of comparing graphs share.
#pragma once

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// Graphs with more origins than this are different programs, and the first origins show that.
inline constexpr size_t kMaxOrigins = 24;

// Returns the difference between a node and its counterpart of the same op: type, node, before,
// after and is_input. In a `partitioned` program, inputs have the shape of one device's part.
GraphDifference CompareNodes(const GraphNode& before, const GraphNode& after,
                             bool partitioned = false);

// Implements Diff for graphs printed as hlo_optimized.
GraphDiff DiffOptimized(const PrintedGraph& before, const PrintedGraph& after,
                        NewStateIs new_state);

}  // namespace xlaprof
