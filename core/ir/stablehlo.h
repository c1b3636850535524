// Prints programs as StableHLO text, the form that XLA's compilers read.
#pragma once

#include <string>

#include "core/graph/program.h"

namespace xlaprof::lazy {

// Returns one module with one function, `func.func public @main`. Donated arguments name the result
// that they become. Each operation has its origin as loc("scope/aten__mul"("file.cc":3:7)). Parsing
// needs the dialects func, stablehlo and, for erf, chlo.
std::string StableHloText(const Program& program);

}  // namespace xlaprof::lazy
