// The finding graph_break: figures and words.
#pragma once

#include <cstdint>
#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

// Finding::count is the number of compilations that met the place.
struct GraphBreakFigures {
  std::string function;      // the function that is compiled in parts; "" if unknown
  std::string reason, hint;  // in PyTorch's words; `hint` may be ""
  std::string code;          // PyTorch's number of the reason, such as gb0124; "" if not printed
  SourcePlace library;       // the library's line that ends the graph, if it is not the user's
  int64_t parts = 0;         // graphs that a call of the function runs; 0 if unknown
  int64_t places = 0;        // places at which the function's graph ends
};

Words SayGraphBreak(const Finding& finding, Framework framework);

}  // namespace xlaprof
