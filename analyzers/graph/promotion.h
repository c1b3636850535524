// Finds out why a program computes in double precision although its inputs are not.
#pragma once

#include <optional>
#include <string>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

struct Promotion {
  std::string location;  // at which most ops first compute in f64, as it is printed; "" if unknown
  bool has_array = false;  // an array of doubles is a constant there, as a NumPy table is
};

// Returns whether the array or tuple is of doubles or of complex numbers that consist of doubles.
bool IsDoublePrecision(const std::string& shape);

// Returns nothing if an array among the inputs is of doubles already, or if no op makes one. Numbers
// do not count: JAX makes each Python float a double if jax_enable_x64 is set.
std::optional<Promotion> FindPromotion(const PrintedGraph& graph);

}  // namespace xlaprof
