// Writes XLA's HloProto (hlo.proto) as graph and graph_node rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/import/importer.h"

namespace xlaprof {

struct HloGraph {
  int64_t graph_id = 0;         // row of table graph, hash NULL
  std::string name;             // name of the module
  int64_t located_nodes = 0;    // nodes that carry a source line
  std::string located_example;  // one such line, for evidence; "" if there is none
  // The user's line that called the jitted function; no file if no stack shows it.
  Store::Frame call_site;
};

// kOptimized: the module was compiled, so printed_as is hlo_optimized. kTold: it is hlo_optimized
// only if the module has a schedule, and else hlo.
enum class HloForm { kOptimized, kTold };

// Adds the module of a serialised HloProto to the current process. Nodes are numbered over all
// computations, entry last. Attributes are written as XLA's text writes them. Only called
// computations, whose names are not stable, are given by their number in that order. `offset` is
// the proto's position in the source. Returns DataLoss if the proto cannot be parsed.
absl::StatusOr<HloGraph> AddHloGraph(std::string_view proto, OptInt program_id, int64_t offset,
                                     ImportContext& context, HloForm form = HloForm::kOptimized);

}  // namespace xlaprof
