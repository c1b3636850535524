// Reads torch_xla's text of a lazy graph, `IR { ... }`.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// Reads the node lines of `text`. Text after the closing brace is ignored.
GraphText ParseIrText(std::string_view text);

// Returns whether the nodes of two such texts differ at most in scopes and source places. Then both
// have the same ContentHash. Costs far less than parsing them, because most lines are equal.
bool HaveSameIrContent(std::string_view a, std::string_view b);

}  // namespace xlaprof
