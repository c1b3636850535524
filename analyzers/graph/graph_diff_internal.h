// Shared by the two ways of comparing graphs.
#pragma once

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// More origins than this make it another program, and the first ones say so.
inline constexpr size_t kMaxOrigins = 24;

// The difference between a node and its counterpart of the same op: type, node, before, after,
// is_input. Of a `partitioned` program, inputs have the shape of one device's part.
GraphDifference Compare(const GraphNode& before, const GraphNode& after, bool partitioned = false);

// Diff for graphs printed as hlo_optimized.
GraphDiff DiffOptimized(const PrintedGraph& before, const PrintedGraph& after);

}  // namespace xlaprof
