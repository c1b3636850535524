// Recognises programs that take more inputs each time, as those of a loop that appends to a list of
// tensors do.
#pragma once

#include <span>
#include <vector>

#include "analyzers/recompile/cause.h"
#include "analyzers/recompile/compile_sites.h"

namespace xlaprof {

// Replaces the reasons of compiles of `site` by growth, if most of them took a constant number of
// inputs more than the compile before. `recompiles` are their indices in the site, and `reasons` are
// parallel to it. A reason that JAX itself gave only gets the note.
void ReplaceByGrowth(const CompileSite& site, std::span<const size_t> recompiles,
                     std::vector<CompileReason>* reasons);

}  // namespace xlaprof
