// Lines of torch_xla's own C++ log that tell of compilations and executions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/store/rows.h"

namespace xlaprof {

struct RuntimeLogLine {
  bool compiles = false, done = false;  // else executes; else begins
  std::string hash, device;             // hash in lower case; "TPU:0"
  OptInt at_ns;                         // of its clock, since 1970; empty: the line has no time
};

// Empty for any other line.
std::optional<RuntimeLogLine> ParseRuntimeLogLine(std::string_view line);

}  // namespace xlaprof
