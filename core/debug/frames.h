// Formats the cause of a cut and its line as torch_xla's logs do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/observe/observer.h"

namespace xlaprof::lazy::debug {

// Returns the cause in torch_xla's words: `user torch_xla.sync`.
std::string_view CauseText(std::string_view cause);

// Returns an operation's name without its namespace: nonzero for aten::nonzero.
std::string_view BareName(std::string_view op);

// Returns frames as `function (file:line)`, innermost first. Readers of these logs infer the cause
// of a cut from the frames of torch_xla's own functions before the user's. So such frames come
// first here, too, in files that no reader takes for the user's.
std::vector<std::string> FrameTexts(std::string_view cause, const observe::Stack& stack);
// Returns only the user's frames: the stack of calls if that is recorded (XLA_IR_DEBUG), and
// otherwise `stack`.
std::vector<std::string> FrameTexts(const observe::Stack& stack);

}  // namespace xlaprof::lazy::debug
