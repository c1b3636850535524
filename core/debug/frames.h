// What cut a graph, and at which line, as torch_xla's logs say it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/observe/observer.h"

namespace xlaprof::lazy::debug {

// The cause in torch_xla's words: `user torch_xla.sync`.
std::string_view CauseText(std::string_view cause);

// An operation without its namespace: nonzero of aten::nonzero.
std::string_view BareName(std::string_view op);

// `function (file:line)`, innermost first. Readers of these logs tell the cause of a cut from the
// frames of torch_xla's own functions before the user's; such frames are first here too, in files
// that no reader takes for the user's.
std::vector<std::string> FrameTexts(std::string_view cause, const observe::Stack& stack);
// The user's alone.
std::vector<std::string> FrameTexts(const observe::Stack& stack);

}  // namespace xlaprof::lazy::debug
