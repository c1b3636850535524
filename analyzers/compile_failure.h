// The finding compile_failure: figures and words.
#pragma once

#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

// Finding::count is the number of failures, and cost_ns their time.
struct CompileFailureFigures {
  std::string function;  // "" if unknown
  std::string error;     // name of the exception; "" if unknown
  std::string message;   // the first line of its text; "" if unknown
  std::string hint;      // PyTorch's advice; "" if there is none
  SourcePlace compiled;  // where the function is, if the subject is the line that failed
};

Words SayCompileFailure(const Finding& finding, Framework framework);

}  // namespace xlaprof
