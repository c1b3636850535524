// torch_xla's text of a lazy graph, `IR { ... }`.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// Reads the node lines of `text`; what stands before `IR {` and after the closing brace is left
// alone.
GraphText ParseIrText(std::string_view text);

}  // namespace xlaprof
