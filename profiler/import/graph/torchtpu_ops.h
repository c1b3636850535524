// Reads graphs as TorchTPU prints them into torch's structured log.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// Reads the operations of a graph with the user's lines that recorded them. Inputs become nodes of
// op `parameter`. An operation with several results is one node whose shape is a tuple. Element
// types get XLA's names (i64 becomes s64). Lines of other forms are counted as issue
// unreadable_node.
GraphText ParseTorchtpuOps(std::string_view text);

}  // namespace xlaprof
