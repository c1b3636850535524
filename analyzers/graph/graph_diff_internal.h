// The parts of the comparison of two graphs, and what they share.
#pragma once

#include <optional>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/graph/graph_listing.h"

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

// Returns the one difference that explains all added and removed nodes best: a change of the shared
// inputs, of a number that is a constant or an input, of the optimizer's state, of a loop's count,
// of the results, or else of an op. Returns nothing if the structure is the same.
std::optional<GraphDifference> StructureChange(const AlignedGraphs& graphs, NewStateIs new_state);

// Returns a constant_change or a parameter_sharing_change if the graphs compute the same from their
// numbers, wherever these come from. Operations on nothing but numbers may exist once for equal
// numbers. Returns nothing if anything else differs, or if the numbers have the same pattern.
std::optional<GraphDifference> NumberPatternChange(const PrintedGraph& before,
                                                   const PrintedGraph& after);

// Returns the inputs that only one of the programs has: the argument of the function that they
// belong to, and the first of them in each program. Returns nothing if both have the same, or if an
// input has no name. The positions of inputs tell nothing then, because a missing one moves others.
std::optional<GraphDifference> OtherNamedInputs(const PrintedGraph& before,
                                                const PrintedGraph& after);

}  // namespace xlaprof
