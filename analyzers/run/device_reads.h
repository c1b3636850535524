// Reads of a device's values that a profile shows as calls. In a program that runs op by op, from
// PyTorch's profiler, a read is an operation that needs a value (aten::item), and inside it is the
// copy or wait that blocks its thread. In JAX's profile, the call that reads blocks by itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

inline constexpr std::string_view kJaxWait = "jax.block_until_ready";

// The reads of one operation at one place. If steps are marked, only reads inside a step, on its
// thread, are included.
struct DeviceReads {
  struct Time {
    int64_t ts_ns = 0, dur_ns = 0;
  };
  bool copies = false;   // a copy of a tensor to the host
  std::string op;        // the outermost call that reads: aten::item, np.asarray(jax.Array)
  Subject subject;       // the op, and its line if Python was traced
  StringId scope = 0;    // the innermost scope, or else the step's name
  bool in_step = false;  // `scope` is a step's name
  int64_t count = 0;
  int64_t blocked_ns = 0;     // time in calls that copy to the host or wait for the device
  std::vector<Time> longest;  // the few longest reads
  std::vector<Time> all;      // all reads, if the call blocks by itself
};

struct DeviceReadsInSteps {
  std::vector<DeviceReads> places;  // most blocked first
  int64_t steps = 0;                // steps of the threads with reads; 0 if none is marked

  static absl::StatusOr<DeviceReadsInSteps> Of(const Run& run);
};

}  // namespace xlaprof
