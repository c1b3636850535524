// Finds the programs that copy parameters only because their caller does not donate them, and how
// long the device spends on these copies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/graph/donation.h"
#include "analyzers/run/copy_times.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct DonatableProgram {
  int64_t graph_id = 0;
  std::string module;                 // such as jit_update; "" if it has no name
  Subject subject;                    // the line that calls the program
  std::vector<DonatableCopy> copies;  // not empty, largest first
  int64_t executions = 0;             // with or without times; 0 if no source shows any

  // The device that copies longest. Unset if no copy has a time.
  struct Measured {
    std::string device;      // its label
    bool on_host = false;    // it is the host's CPU
    CopyTimes times;
    int64_t executions = 0;  // executions with a time on this device
    int64_t span_ns = 0;     // first start to last end of all of the device's work
  };
  std::optional<Measured> measured;

  int64_t bytes() const;  // copied in each execution
};

// The programs in the order of their graphs.
struct DonatableCopies {
  std::vector<DonatableProgram> programs;

  static absl::StatusOr<DonatableCopies> Of(const Run& run);
};

}  // namespace xlaprof
