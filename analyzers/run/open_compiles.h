// Compilations that a profile shows only in part. A profiler records a call when it returns, so a
// compilation that began before the profile or ended after it is not in the profile itself, but the
// passes of XLA's compiler that ran meanwhile are.
#pragma once

#include <string>
#include <vector>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

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
