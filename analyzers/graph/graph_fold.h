// Joins views that a lazy graph holds twice, which its hash does not distinguish.
#pragma once

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// Joins views that read the same value in the same way. A lazy graph is hashed by its results, so
// a second node of the same view changes neither the hash nor the program. torch_xla makes such
// nodes when a view that autograd kept is older than the last update of its tensor, which is so
// from the second step on. Graphs of other runtimes stay as they are.
void FoldRepeatedViews(PrintedGraph* graph);

}  // namespace xlaprof
