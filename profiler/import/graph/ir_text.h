// Reads torch_xla's text of a lazy graph, `IR { ... }`.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// Reads the node lines of `text`. Text after the closing brace is ignored.
GraphText ParseIrText(std::string_view text);

}  // namespace xlaprof
