// Finds inputs of an optimised program that are replaced by a result, but keep their memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// A parameter that is not donated, and a result of the same shape and layout that the program
// computes from it element by element, or by an update of a part of it. The result has memory of
// its own, because no parameter gives it any.
struct KeptInput {
  int64_t parameter = 0;  // number
  int64_t result = 0;     // index
  std::string argument;   // JAX's name of the parameter, such as state['w']; "" if not printed
  std::string shape;      // without its layout
  int64_t bytes = 0;
};

struct KeptInputs {
  std::vector<KeptInput> inputs;  // largest first, at most one for each parameter and each result
  int64_t parameter_bytes = 0;    // of all parameters
  int64_t bytes() const;          // of `inputs`
};

// Follows parameters into fusions only if the graph names the computation of each fusion by its
// number, as HLO protos do. A gradient, which has the shape of a parameter, is no such result,
// because a matrix product makes it. An average of two parameters replaces none, because it is not
// known which of them the caller needs no more.
KeptInputs KeptInputsOf(const PrintedGraph& graph);

}  // namespace xlaprof
