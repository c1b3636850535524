// Finds a large array that is a constant of a program, as one that a jitted function captures. XLA
// copies it several times when it compiles, and keeps a copy with each program that contains it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

struct LargeConstant {
  int64_t bytes = 0;
  std::string shape;     // without layout
  std::string location;  // of the first op that reads it and has one, as it is printed; or ""
};

// Returns the largest constant that is an array; nothing if there is none. Only graphs that print
// each element of a constant contain one: in others, a broadcast number may have any shape.
std::optional<LargeConstant> FindLargestConstant(const PrintedGraph& graph);

}  // namespace xlaprof
