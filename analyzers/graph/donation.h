// Finds the copies in an optimised program that would not be needed if the caller donated its
// inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// A copy of a parameter that reaches a result of the same shape and layout. No donated parameter
// takes that result, and no op that follows the copy reads the parameter itself.
struct DonatableCopy {
  int64_t parameter = 0;  // number
  int64_t result = 0;     // index
  std::string argument;   // JAX's name of the parameter, such as state['w']; "" if not printed
  std::string name;       // the copy's name, such as copy.3
  std::string shape;      // without its layout
  int64_t bytes = 0;
};

// Returns the copies of an optimised HLO module, largest first, at most one for each parameter and
// each result. XLA makes such a copy because it may not overwrite a parameter that the caller keeps.
std::vector<DonatableCopy> DonatableCopiesOf(const PrintedGraph& graph);

}  // namespace xlaprof
