// Reads a printed graph in any of the forms that torch_xla and XLA write, recognised by its first
// bytes.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// Returns the form that `text` begins like: IR text, a dot graph, HLO or StableHLO; else kUnknown.
PrintedForm FormOf(std::string_view text);

// Reads the graph; printed_as is kUnknown if no form is recognised. Invalid UTF-8 becomes U+FFFD.
GraphText ParsePrintedGraph(std::string_view text);

}  // namespace xlaprof
