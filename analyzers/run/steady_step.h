// The parts of a steady step: the leading thread's time, which its activities fill without overlap,
// and the devices' time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/run/host_timeline.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// Means over the steady steps that have a time, from the start of the first to the end of the last.
// Each step of each process counts.
struct SteadyStep {
  int64_t steps = 0;    // 0: no source has times of steady steps, and the rest is empty
  int64_t step_ns = 0;  // mean time from one step to the next
  struct Part {
    Doing doing;
    int64_t ns;
  };
  // The parts of the leading thread, longest first, which sum to step_ns. Empty if no host thread
  // was recorded.
  std::vector<Part> host;
  std::optional<int64_t> device_busy_ns, device_idle_ns;  // means over the devices

  static absl::StatusOr<SteadyStep> Of(const Run& run);
};

}  // namespace xlaprof
