// Finds the lines that call one function.
#pragma once

#include <vector>

#include "analyzers/recompile/cause.h"
#include "analyzers/recompile/compile_sites.h"

namespace xlaprof {

// Returns the line that called each compile of a jitted function's site; empty if it is not known,
// and for other sites. If no source names the caller, it is the line of all nodes of the program:
// JAX omits its own frames, so a library function has only its caller's line.
absl::StatusOr<std::vector<SourcePlace>> CallPlaces(const Run& run, const CompileSites& sites,
                                                    const CompileSite& site);

// Returns whether the line of compile `index` called the function only there, and only once. A
// function that is called at two places needs a program for each, which is no recompilation.
bool IsOnlyCallOfItsLine(const std::vector<SourcePlace>& places, size_t index);

// Returns whether this cause of a recompile is avoidable even if the calls are on different lines,
// because both need the same program.
bool CouldShareProgram(const RecompileCause& cause);

}  // namespace xlaprof
