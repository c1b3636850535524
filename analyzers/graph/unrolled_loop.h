// Finds out whether a program contains an unrolled loop that uses the same weights in each turn, as
// a recurrent network over time steps does. Layers of a network have weights of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

struct UnrolledLoop {
  // Times that the line multiplies with the weights, or that half of the operations occur at least.
  int64_t turns = 0;
  std::string weight_shape;  // without layout; "" if the loop is known by its operations alone
  std::string location;      // of the multiplication or of most operations, as it is printed
};

// Returns the loop with most turns, of which there must be `least_turns`. A line must multiply arrays of
// the same shapes that often, and eight times as often as the program has inputs of the shape of its
// weights. An optimizer's state counts among these inputs, and gradients among the multiplications.
//
// If no line does, returns a loop of other operations: half of all operations that `is_user` accepts
// the place of occur that often at one line, and the program has fewer than half as many inputs, not
// counting scalars. Each layer of a network has inputs of its own.
std::optional<UnrolledLoop> FindUnrolledLoop(const PrintedGraph& graph,
                                             const std::function<bool(std::string_view)>& is_user,
                                             int64_t least_turns = 16);

}  // namespace xlaprof
