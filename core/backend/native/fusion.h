// Fuses elementwise operations into one pass over memory. Blocks of elements that stay in the
// core's first cache go through all operations, with one vectorized loop each.
#pragma once

#include "core/backend/native/graph.h"
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// Makes the thunk of a fused unit. `slots` are those of the graph's values in memory.
ThunkOr MakeFusion(const Program& program, const Graph& graph, const Unit& unit,
                   std::span<const int32_t> slots, ThreadPool& pool);

}  // namespace xlaprof::lazy
