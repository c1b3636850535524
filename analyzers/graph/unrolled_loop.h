// Finds out whether a program contains an unrolled loop that uses the same weights in each turn, as
// a recurrent network over time steps does. Layers of a network have weights of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

struct UnrolledLoop {
  int64_t turns = 0;         // times that the line multiplies with the weights
  std::string weight_shape;  // without layout
  std::string location;      // of the multiplication, as it is printed
};

// Returns the loop with most turns. A line must multiply arrays of the same shapes sixteen times at
// least, and eight times as often as the program has inputs of the shape of its weights. An
// optimizer's state counts among these inputs, and gradients among the multiplications.
std::optional<UnrolledLoop> FindUnrolledLoop(const PrintedGraph& graph);

}  // namespace xlaprof
