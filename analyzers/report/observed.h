// Says what `xlaprof run` recorded of a Python process, what that cost, and where the program was last.
#pragma once

#include <string>
#include <vector>

#include "analyzers/run/host_samples.h"
#include "analyzers/run/run.h"
#include "profiler/store/rows.h"

namespace xlaprof {

struct Observed {
  ObservedProcessRow row;
  OptInt pid, rank;
  std::optional<LastSeen> last;  // where the main thread was at its last sample
};

absl::StatusOr<std::vector<Observed>> ObservedProcessesOf(const Run& run);

// Returns one or more sentences: "train.py (pid 12): 120 steps (step marks) in 20 s. ...".
std::string ObservedText(const Observed& observed);

}  // namespace xlaprof
