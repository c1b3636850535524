// Makes an executable program of a graph. Loads it from the persistent cache's directory, or
// compiles it.
#pragma once

#include "core/compile/graph.h"
#include "core/exec/compile_cache.h"
#include "core/exec/cut.h"

namespace xlaprof::lazy {

// Compiles `graph`, which must have its hash and must not be in the device's cache.
absl::StatusOr<std::shared_ptr<CompiledGraph>> Compile(Device& device, const TracedGraph& graph,
                                                       const Cut& cut);

}  // namespace xlaprof::lazy
