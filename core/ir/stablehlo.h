// Programs as StableHLO text, the form that XLA's compilers take.
#pragma once

#include <string>

#include "core/compile/program.h"

namespace xlaprof::lazy {

// One module with one function, `func.func public @main`. Arguments that are donated say which
// result they become; each operation has the place that it comes from as
// loc("scope/aten__mul"("file.cc":3:7)). A parse needs the dialects func, stablehlo and, for erf,
// chlo.
std::string StableHloText(const Program& program);

}  // namespace xlaprof::lazy
