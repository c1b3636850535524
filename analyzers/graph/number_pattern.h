// Compares which numbers of two graphs are constants, and which of them are one input. torch_xla
// and our runtime embed 0 and 1, and pass equal numbers as one input.
#pragma once

#include <optional>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// Returns a constant_change or a parameter_sharing_change if the graphs compute the same from their
// numbers, wherever these come from. Operations on nothing but numbers may exist once for equal
// numbers. Returns nothing if anything else differs, or if the numbers have the same pattern.
std::optional<GraphDifference> NumberPatternChange(const PrintedGraph& before,
                                                   const PrintedGraph& after);

}  // namespace xlaprof
