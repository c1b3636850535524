// Formats the cause of a cut and its line as torch_xla's logs do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/exec/cut.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy::debug {

// Returns the cause in torch_xla's words: `user torch_xla.sync`.
std::string_view CauseText(std::string_view cause);

// Returns an operation's name without its namespace: nonzero for aten::nonzero.
std::string_view BareName(std::string_view op);

// Returns the user's frames as `function (file:line)`, innermost first: the stack of calls if that
// is recorded (XLA_IR_DEBUG), and otherwise `stack`.
std::vector<std::string> FrameTexts(const observe::Stack& stack);
// Returns the frames of a cut whose cause is told nowhere else. The function of the runtime that
// ended the step comes first, `xlaprof::lazy::mark_step (core/trace/step.cc:69)`, by which readers
// infer the cause. A read has only the user's frames.
std::vector<std::string> FrameTexts(const Cut& cut);

}  // namespace xlaprof::lazy::debug
