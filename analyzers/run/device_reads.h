// Reads of a device's values in a program that runs op by op, as PyTorch's profiler shows them: the
// operation that needs the value (aten::item), and in it the copy or the wait that blocks its
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// The reads of one operation at one place. Only those inside of a step, on its thread.
struct DeviceReads {
  struct Time {
    int64_t ts_ns = 0, dur_ns = 0;
  };
  std::string op;        // the outermost that reads: aten::item, aten::nonzero
  Subject subject;       // the op; the line, where Python was traced
  StringId scope = 0;    // the innermost, else the step's name
  bool in_step = false;  // `scope` is a step's
  int64_t count = 0;
  int64_t blocked_ns = 0;     // in the calls that copy to the host or wait for the device
  std::vector<Time> longest;  // a few
};

struct DeviceReadsInSteps {
  std::vector<DeviceReads> places;  // most blocked first
  int64_t steps = 0;                // of the threads that have some

  static absl::StatusOr<DeviceReadsInSteps> Of(const Run& run);
};

}  // namespace xlaprof
