// Finds out why a program computes in double precision although its inputs are not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

struct Promotion {
  std::string location;  // at which most ops first compute in f64, as it is printed; "" if unknown
  bool has_array = false;  // an array of doubles is a constant there, as a NumPy table is
  int64_t inputs = 0;  // arrays of doubles among the inputs; if there are any, they are the reason
};

// Returns whether the array or tuple is of doubles or of complex numbers that consist of doubles.
bool IsDoublePrecision(const std::string& shape);

// Returns nothing if no op makes an array of doubles. Numbers among the inputs do not count: JAX makes
// each Python float a double if jax_enable_x64 is set.
std::optional<Promotion> FindPromotion(const PrintedGraph& graph);

}  // namespace xlaprof
