// Finds the unit of work of a run that marks no steps, such as a server: the executions of one
// program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct WorkUnit {
  struct Program {
    std::string name;        // such as jit_decode
    int64_t executions = 0;  // with a time, on the device with most of them
    int64_t median_ns = 0;   // length of one
    double share = 0;        // their part of the length of all executions
  };
  // Empty if any source shows a step, or if no program takes most of the time.
  std::optional<Program> program;

  static absl::StatusOr<WorkUnit> Of(const Run& run);
};

}  // namespace xlaprof
