// Compares the inputs and results of two printed graphs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// Returns whether the node is one number, as a loss weight or a learning rate is.
bool IsScalar(const GraphNode& node);

// Returns the scalar input of `graph` that `other` does not have, by shape and place in the source.
// Returns -1 if `other` has each of them.
int LostScalar(const PrintedGraph& graph, const PrintedGraph& other);

// Returns a scalar input that `graph` has from this place in the source. Returns -1 if it has none,
// or if `location` is empty.
int ScalarInputAt(const PrintedGraph& graph, const std::string& location);

// Returns the constant of `graph` that most likely replaces or precedes a scalar input recorded at
// `location`. Returns -1 if no scalar constant is recorded there.
int ConstantAt(const PrintedGraph& graph, const std::string& location);

// Returns whether another scalar of `graph` has the value of `constant`: torch_xla passes equal
// scalars as one input. Returns nothing if the graph does not print values.
std::optional<bool> HasEqualScalar(const PrintedGraph& graph, const GraphNode& constant);

// Returns the inputs of `after` that are tensors which `before` does not have, if they are state:
// both graphs have the same results, and `after` updates each of these inputs. Returns nothing
// unless there are at least two, and nearly all new tensors are such, or all if `only_state`.
std::vector<int> NewStateInputs(const PrintedGraph& before, const PrintedGraph& after,
                                bool only_state = false);

// Returns whether both graphs have results of the same shapes, in any order.
bool HaveSameResults(const PrintedGraph& before, const PrintedGraph& after);

// Returns "1 result", "2 results", ...
std::string ResultsText(int64_t count);

// Returns whether the graph has a result of this shape.
bool HasResult(const PrintedGraph& graph, const std::string& shape);

// Returns whether code of an optimizer recorded the node.
bool IsOfOptimizer(const GraphNode& node);

}  // namespace xlaprof
