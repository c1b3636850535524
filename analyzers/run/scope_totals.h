// Sums the scopes that a program recorded with our recorder: how often each was open, and for how
// long.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

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

}  // namespace xlaprof
