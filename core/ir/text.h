// Programs as torch_xla prints lazy graphs: the IR text of XLA_SAVE_TENSORS_FMT=text, and dot.
#pragma once

#include <string>

#include "core/compile/program.h"

namespace xlaprof::lazy {

struct TextOptions {
  bool debug = false;  // scopes and locations, as with XLA_IR_DEBUG
};

// `IR {`, a line an instruction, `}`; its last line is ended, too. Attributes stand behind
// xla_shape, where torch_xla has them when it prints them.
std::string IrText(const Program& program, TextOptions options = {});

// `digraph G {` ... `}`, edges from the last instruction's to the first's.
std::string DotText(const Program& program, TextOptions options = {});

// An operation's attributes: `dim=0, start=3`; "" where it has none. Lists are `dims=(0, 1)`, types
// as XLA names them.
std::string AttributesText(const Op& op, const Attributes& attributes);

}  // namespace xlaprof::lazy
