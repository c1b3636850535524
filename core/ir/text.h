// Prints programs as torch_xla prints lazy graphs: the IR text of XLA_SAVE_TENSORS_FMT=text, and
// dot.
#pragma once

#include <string>

#include "core/graph/program.h"

namespace xlaprof::lazy {

struct TextOptions {
  bool debug = false;  // scopes, locations and callers, as with XLA_IR_DEBUG
};

// Returns `IR {`, one line per instruction, and `}` with a newline. Attributes follow xla_shape,
// where torch_xla prints them.
std::string IrText(const Program& program, TextOptions options = {});

// Returns what a compiled program depends on: the text, and the donations as a line each.
std::string IdentityText(const Program& program);

// Returns `digraph G {` ... `}`, with edges from the last instruction's to the first's.
std::string DotText(const Program& program, TextOptions options = {});

// Returns an operation's attributes, such as `dim=0, start=3`, or "" if it has none. Lists are
// `dims=(0, 1)`; types have XLA's names.
std::string AttributesText(const Op& op, const Attributes& attributes);

}  // namespace xlaprof::lazy
