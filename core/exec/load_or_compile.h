// Makes an executable program of a graph. Loads it from the persistent cache's directory, or
// compiles it.
#pragma once

#include "core/exec/cut.h"
#include "core/exec/program_cache.h"
#include "core/graph/traced_graph.h"

namespace xlaprof::lazy {

// Returns the program of `graph`, which must have its hash and must not be in the device's cache.
absl::StatusOr<std::shared_ptr<CompiledGraph>> LoadOrCompile(Device& device,
                                                             const TracedGraph& graph,
                                                             const Cut& cut);

}  // namespace xlaprof::lazy
