// Compilations that the capture shows only in part.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// The compiles that come only from files whose end is missing.
struct CutCompiles {
  std::set<int64_t> ids;  // rows of table compile; a whole file shows none of them

  static absl::StatusOr<CutCompiles> Of(const Run& run);
};

// Compilations that a profile shows only in part. A profiler records a call when it returns, so a
// compilation that began before the profile or ended after it is not in the profile itself, but the
// passes of XLA's compiler that ran meanwhile are.
struct OpenCompile {
  std::string module;             // as XLA names it, such as jit_step
  int64_t ts_ns = 0, dur_ns = 0;  // from the first to the last of its passes
  int64_t window_ns = 0;          // the length of the profile
};

struct OpenCompiles {
  std::vector<OpenCompile> all;  // the longest first

  static absl::StatusOr<OpenCompiles> Of(const Run& run);
};

}  // namespace xlaprof
