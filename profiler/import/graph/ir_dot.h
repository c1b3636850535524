// Reads torch_xla's dot graph of a lazy graph, XLA_SAVE_TENSORS_FMT=dot.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// Reads nodes in the order in which they are printed (post-order), then the edges. Values that were
// cut stay cut, with their "..."; issue cut_labels counts them.
GraphText ParseIrDot(std::string_view text);

}  // namespace xlaprof
