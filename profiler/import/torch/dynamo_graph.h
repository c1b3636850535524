// Reads shapes from the graphs and guards that Dynamo prints.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/xla_shape.h"

namespace xlaprof {

// Returns the shape f32[64,16] of an input that a graph prints as L_x_: "f32[64, 16][16, 1]cpu".
// Returns nothing if the graph does not have it.
std::optional<XlaShape> ShapeInGraph(std::string_view graph, std::string_view input);

// Returns the name, as in failures, and the shape of a tensor that is no parameter, from a guard such as
//   | | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, ..., torch.float32, ..., size=[64, None], ...)
// in which a dynamic dimension has no size. Returns nothing for other texts.
std::optional<std::pair<std::string, XlaShape>> ShapeInGuard(std::string_view text);

// Returns the shape with one dimension of that size; nothing if it does not have the dimension.
std::optional<std::string> WithSize(const XlaShape& shape, int64_t dimension,
                                    std::string_view size);

}  // namespace xlaprof
