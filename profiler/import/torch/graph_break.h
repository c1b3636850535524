// Reads why torch.compile ended a graph (a graph break), in PyTorch's words. TORCH_TRACE and
// TORCH_LOGS=graph_breaks print the same texts.
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
  std::string code;    // PyTorch's number of the reason, such as gb0124; "" if not printed
  std::string reason;  // what cannot be traced, in one line
  std::string hint;    // PyTorch's advice; "" if there is none
};

// Reads a text that begins with "Graph break in user code at train.py:15". Returns nothing for
// another text.
std::optional<GraphBreak> ParseGraphBreak(std::string_view text);

// Returns what a message of Dynamo says that it cannot trace: the line before its explanation.
// "Data-dependent branching\n  Explanation: ..." is "Data-dependent branching".
std::string UntraceableOf(std::string_view message);

// Returns the advice in a message of Dynamo, without what helps no user; "" if there is none.
std::string HintsOf(std::string_view message);

// Returns PyTorch's number of a reason, such as gb0124, from the address in a message; "" without one.
std::string ReasonCodeOf(std::string_view message);

}  // namespace xlaprof
