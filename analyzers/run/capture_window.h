// The time of each process that a capture shows of its program.
#pragma once

#include <cstdint>
#include <map>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// From the first start to the last end of a process's events inside the chosen part. Starting and
// stopping the profiler at the edges is left out, and so is making the device's context at the
// beginning, as long as no step and no work of a device falls into that time.
struct CaptureWindows {
  std::map<int64_t, Interval> by_process;

  static absl::StatusOr<CaptureWindows> Of(const Run& run);
};

}  // namespace xlaprof
