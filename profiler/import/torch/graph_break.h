// Reads why torch.compile ended a graph (a graph break) or could not compile a function, in PyTorch's
// words. TORCH_TRACE and TORCH_LOGS print the same texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_place.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct GraphBreak {
  SourcePlace place;  // the line that ends the graph, in the user's code or a library's
  std::vector<Store::Frame> frames;  // innermost first; empty if the text has no traceback
  ReasonType type = ReasonType::kUntraceable;  // value_access, data_dependent_branch or untraceable
  std::string code;    // PyTorch's number of the reason, such as gb0124; "" if not printed
  std::string reason;  // what cannot be traced, in one line
  std::string hint;    // PyTorch's advice; "" if there is none
};

// Reads a text that begins with "Graph break in user code at train.py:15". Returns nothing for
// another text.
std::optional<GraphBreak> ParseGraphBreak(std::string_view text);

// Sets error, type, reason, hint and text of a failed compilation, from the name of its exception and
// from its message. Both are "" if they are not printed.
void SetFailure(std::string_view error, std::string_view message, CompileFailureRow& row);

}  // namespace xlaprof
