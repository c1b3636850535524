// A printed graph in any of the forms that torch_xla and XLA write, recognised by its first bytes.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// ir_text, ir_dot, hlo or stablehlo; "" when `text` begins like none of them.
std::string_view FormOf(std::string_view text);

// Reads it; printed_as is empty when the form is unknown. Bytes that are no UTF-8 become U+FFFD.
GraphText ParsePrintedGraph(std::string_view text);

}  // namespace xlaprof
