// Elementwise operations in one pass over memory: blocks of elements that stay in the cache next to
// the core go through all of them, one vectorised loop each.
#pragma once

#include "core/backend/native/graph.h"
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// `slots`: of the values of graph that are in memory.
ThunkOr MakeFusion(const Program& program, const Graph& graph, const Unit& unit,
                   std::span<const int32_t> slots, ThreadPool& pool);

}  // namespace xlaprof::lazy
