// Programs as XLA prints HLO modules: what XLA_SAVE_TENSORS_FMT=hlo shows.
#pragma once

#include <string>

#include "core/compile/program.h"
#include "core/ir/text.h"

namespace xlaprof::lazy {

// `HloModule name, ...` and its computations, the entry last, whose root is a tuple of the results.
// With debug, each instruction has metadata: operation, scope, file and line.
std::string HloText(const Program& program, TextOptions options = {});

}  // namespace xlaprof::lazy
