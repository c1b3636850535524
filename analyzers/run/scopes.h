// The scopes of the user: where they are opened, how long they are, and which of them a killed
// process had open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/run.h"
#include "base/status.h"
#include "profiler/store/open_scope.h"

namespace xlaprof {

// Sets what the activity has a name of: scope or step, or function, and its file and line if they
// are known. Sets nothing if it has no name. Returns whether file and line are known.
absl::StatusOr<bool> FillUserCode(const Run& run, const Activity& activity, Subject& subject);

// Sets file and line of `subject` to the only place that opens scopes of this name. If it was not
// recorded, or there are several places, returns false and sets nothing. Only programs that record
// themselves record places of scopes.
absl::StatusOr<bool> FillScopePlace(const Run& run, StringId scope, Subject& subject);

// Sums the scopes that a program recorded with our recorder: how often each was open, and for how
// long.
struct ScopeTotal {
  std::string name;
  Subject place;         // the only line that opens it; empty if there are several
  int64_t count = 0;     // scopes that ended
  int64_t total_ns = 0;  // without scopes that are open inside one of the same name
  int64_t self_ns = 0;   // without what is nested inside
};

struct ScopeTotals {
  std::vector<ScopeTotal> longest;  // by total time
  int64_t others = 0;               // names that are not among the longest

  // Returns no scopes if no program recorded itself.
  static absl::StatusOr<ScopeTotals> Of(const Run& run);
};

// Finds the scopes that were open when recorded processes were killed: where each thread was.
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
