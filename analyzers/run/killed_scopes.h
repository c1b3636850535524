// Finds the scopes that were open when recorded processes were killed: where each thread was.
#pragma once

#include <string>
#include <vector>

#include "analyzers/run/run.h"
#include "base/status.h"
#include "profiler/store/open_scope.h"

namespace xlaprof {

struct KilledScopes {
  struct Thread {
    std::string process;  // its name; "" if it has none
    OptInt pid, rank;
    OpenThread thread;
  };
  // The threads with open scopes. Processes are in the order of their ranks, then as the store has
  // them. The main thread of a process comes first.
  std::vector<Thread> threads;

  // Returns no threads if no recorded process was killed within a scope.
  static absl::StatusOr<KilledScopes> Of(const Run& run);
};

}  // namespace xlaprof
