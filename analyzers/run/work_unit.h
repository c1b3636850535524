// With what costs are compared: the length of the run, and the work that it repeats.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// The length of a run, with which costs are compared.
struct RunTimes {
  // By process: from its first to its last step, compilation or execution that has a time; or as long
  // as `xlaprof run` observed it.
  std::map<int64_t, int64_t> by_process;
  // The same without what `xlaprof run` observed: as long as a profile of a part of the run covers.
  std::map<int64_t, int64_t> timed_by_process;

  // Returns the time of the process, or nothing if nothing in it was timed.
  OptInt Of(int64_t process_id) const;
  // Returns the time of the process that was timed longest.
  OptInt longest() const;

  static absl::StatusOr<RunTimes> Of(const Run& run);
};

// Finds the unit of work of a run that marks no steps, such as a server: the executions of one
// program.
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
