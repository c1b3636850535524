// Programs of single operations: JAX compiles what is called outside of jit one operation, and one
// shape of it, at a time.
#pragma once

#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/recompile_facts.h"

namespace xlaprof {

// The compiles of single operations, taken out of `compiles`, of processes that have many: known by
// what JAX says of where a function is defined, else by their names.
std::vector<CompileFact> TakeOperations(std::vector<CompileFact>& compiles);

// One finding a process that has any in the slice.
Findings OutsideJit(const RecompileFacts& facts);

}  // namespace xlaprof
