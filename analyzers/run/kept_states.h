// Finds the programs that replace large inputs in each execution without taking their memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/graph/kept_inputs.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct KeptState {
  int64_t graph_id = 0;
  std::string module;      // such as jit_train_step; "" if it has no name
  Subject subject;         // the line that calls the program
  KeptInputs kept;         // its inputs are not empty
  int64_t executions = 0;  // in the run
};

// The programs that ran often enough to be judged, in the order of their graphs. Two kinds of
// inputs are left out: those that the program copies (DonatableCopies), and those that another
// program, which runs at least half as often, reads under the same name. The caller may need the old
// values of these.
struct KeptStates {
  std::vector<KeptState> programs;

  static absl::StatusOr<KeptStates> Of(const Run& run);
};

}  // namespace xlaprof
