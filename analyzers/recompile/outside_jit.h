// Programs of single operations: JAX compiles what is called outside of jit one operation, and one
// shape of it, at a time.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/compile_sites.h"

namespace xlaprof {

// The operations with most programs, and how many others there are.
struct OperationCounts {
  std::vector<std::pair<std::string, int64_t>> most;  // by name
  size_t others = 0;
};

// The programs of single operations that one line called.
struct OperationsAtLine {
  SourcePlace place;
  int64_t count = 0, ns = 0;
};

struct OutsideJitFigures {
  OperationCounts operations;
  std::vector<OperationsAtLine> lines;  // those that repeat first, then the dearest; at most a few
  bool at_start = false;                // before the first jitted function was compiled
  bool explained = false;               // JAX's log tells who called
  // The lines or operations that each entry of the finding's evidence shows; operations, if their
  // lines are unknown.
  std::vector<std::variant<OperationsAtLine, OperationCounts>> evidence;
  int64_t processes = 1;  // that have such a finding; the figures are of the one with most programs
};

// The compiles of single operations, taken out of `compiles`, of processes that have many: known by
// what JAX says of where a function is defined, else by their names, if nothing that is known of
// the program speaks against it.
absl::StatusOr<std::vector<CompileFact>> TakeOperations(const Run& run,
                                                        std::vector<CompileFact>& compiles);

// With the process, of each that has any in the slice: one finding for those that a start makes,
// before the first jitted function is compiled, and one for the others; where the others are few,
// one for all.
absl::StatusOr<std::vector<std::pair<int64_t, Finding>>> OutsideJit(const Run& run,
                                                                    const CompileSites& facts);

}  // namespace xlaprof
