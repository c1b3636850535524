// Reads XLA's text of an HLO module: XLA_SAVE_TENSORS_FMT=hlo, and the .txt files of --xla_dump_to.
#pragma once

#include <string_view>

#include "profiler/import/graph/graph_text.h"

namespace xlaprof {

// Reads one module. Nodes are numbered over all computations, the entry last, as hlo_proto.h does
// for the binary form. Attributes are named as there: `parameter=0`, `literal=1.5`, else as
// printed. Metadata is left out (it gives scope and location), and so are the numbers after names
// of computations, which change from module to module. printed_as is hlo_optimized for a module
// that has been scheduled, else hlo.
GraphText ParseHloText(std::string_view text);

}  // namespace xlaprof
