// Reads StableHLO modules, XLA_SAVE_TENSORS_FMT=stablehlo.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// Reads operations of one line: inputs, results, and `%0 = stablehlo.op ... : type`. Lines of other
// forms (regions and what is in them) are counted as issue unread_stablehlo. Tensors are written as
// XLA's shapes: f32[2,3].
GraphText ParseStableHloText(std::string_view text);

}  // namespace xlaprof
