// From a graph to a program that runs: out of the folder of the persistent cache, or compiled.
#pragma once

#include "core/compile/graph.h"
#include "core/exec/compile_cache.h"
#include "core/exec/cut.h"

namespace xlaprof::lazy {

// `graph` has its hash, and is not in the device's cache.
absl::StatusOr<std::shared_ptr<CompiledGraph>> Compile(Device& device, const TracedGraph& graph,
                                                       const Cut& cut);

}  // namespace xlaprof::lazy
