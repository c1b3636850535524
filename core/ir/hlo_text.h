// Prints programs as XLA prints HLO modules, for XLA_SAVE_TENSORS_FMT=hlo.
#pragma once

#include <string>

#include "core/graph/program.h"
#include "core/ir/text.h"

namespace xlaprof::lazy {

// Returns `HloModule name, ...` and its computations. The entry is last, and its root is a tuple of
// the results. With debug, each instruction has metadata: operation, scope, file and line, and the
// stack of calls if it is recorded.
std::string HloText(const Program& program, TextOptions options = {});

}  // namespace xlaprof::lazy
