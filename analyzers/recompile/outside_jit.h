// Programs of single operations: JAX compiles what is called outside of jit one operation, and one
// shape of it, at a time.
#pragma once

#include <utility>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/recompile_facts.h"

namespace xlaprof {

// The compiles of single operations, taken out of `compiles`, of processes that have many: known by
// what JAX says of where a function is defined, else by their names, if nothing that is known of
// the program speaks against it.
absl::StatusOr<std::vector<CompileFact>> TakeOperations(const Store& store,
                                                        std::vector<CompileFact>& compiles);

// With the process, of each that has any in the slice: one finding for those that a start makes,
// before the first jitted function is compiled, and one for the others; where the others are few,
// one for all.
absl::StatusOr<std::vector<std::pair<int64_t, Finding>>> OutsideJit(const Store& store,
                                                                    const RecompileFacts& facts);

}  // namespace xlaprof
