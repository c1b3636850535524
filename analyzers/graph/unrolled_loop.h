// Finds out whether a program contains an unrolled loop that uses the same weights in each turn, as
// a recurrent network over time steps and a loop of denoising steps do. Layers of a network have
// weights of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

struct UnrolledLoop {
  // Times that the loop's operations occur, or that its line multiplies with the weights.
  int64_t turns = 0;
  std::string weight_shape;  // without layout; "" if the loop is known by its operations alone
  std::string location;      // of the multiplication or of most operations, as it is printed
  // Operations of one turn, and the share of the program's operations that is in the turns; 0 if
  // only the multiplications show the loop.
  int64_t body_nodes = 0;
  double share = 0;
};

// Returns the loop of which there are `least_turns` turns at least.
//
// At least half of all operations are in its turns: as many of them as there are turns, or a
// multiple of that, have the same op, line and shape. The turns mostly read the same arrays,
// because layers of a network repeat operations, too, but each layer has inputs of its own. Some of
// these operations are at a place that `is_user` accepts.
//
// In other programs, such as a step of training with a large optimizer, it is the loop with most
// turns that multiplies with the same weights. A line must multiply arrays of the same shapes that
// often, and eight times as often as the program has inputs of the shape of its weights. An
// optimizer's state counts among these inputs, and gradients among the multiplications.
std::optional<UnrolledLoop> FindUnrolledLoop(const PrintedGraph& graph,
                                             const std::function<bool(std::string_view)>& is_user,
                                             int64_t least_turns = 16);

}  // namespace xlaprof
