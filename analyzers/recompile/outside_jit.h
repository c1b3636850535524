// Programs that JAX compiles outside of jit. It compiles such code one operation, and one shape, at a
// time. The body of a loop (scan, while) is compiled with the loop, as one program.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/compile_sites.h"

namespace xlaprof {

// The most expensive operations, each with its programs, and how many others there are.
struct OperationCounts {
  std::vector<std::pair<std::string, int64_t>> most;  // by name
  size_t others = 0;
};

// The programs outside of jit that one line called.
struct OperationsAtLine {
  SourcePlace place;
  int64_t count = 0, ns = 0;
};

struct OutsideJitFigures {
  OperationCounts operations, loops;
  int64_t loop_programs = 0;            // programs of `loops`
  bool all_resharding = false;          // JAX compiled them to move arrays to another sharding
  std::vector<OperationsAtLine> lines;  // the most expensive first; a few
  bool at_start = false;                // before the first jitted function was compiled
  bool explained = false;               // JAX's log names the caller
  // The lines or operations that each entry of the finding's evidence shows; operations, if their
  // lines are unknown.
  std::vector<std::variant<OperationsAtLine, OperationCounts>> evidence;
  // The number of processes with such a finding. The figures are those of the process with most
  // programs.
  int64_t processes = 1;
};

// Removes the compiles outside of jit from `compiles` and returns them, for processes that have
// many. They are recognised by JAX's explanations, or else by their names, unless a known fact about
// the program contradicts that. Loops stay if one line compiles them again and again, because that
// has a reason of its own. Programs that move arrays to another sharding are always removed.
absl::StatusOr<std::vector<CompileFact>> TakeOperations(const Run& run,
                                                        std::vector<CompileFact>& compiles);

// Returns findings with their processes, for processes with such compiles in the chosen part. There
// is one finding about the compiles before the first jitted function is compiled, and one about the
// others. If the others are few, there is one finding about all.
absl::StatusOr<std::vector<std::pair<int64_t, Finding>>> OutsideJit(const Run& run,
                                                                    const CompileSites& facts);

}  // namespace xlaprof
