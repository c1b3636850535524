// The parts of a steady step: the leading thread's time, which its activities fill without overlap,
// and the devices' time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/run/host_timeline.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// Means over the steady steps that have a time, from the first one's start to the last one's end.
// Steps of several processes count as so many steps.
struct SteadyStep {
  int64_t steps = 0;    // 0: no source has times of steady steps, and all else is empty
  int64_t step_ns = 0;  // mean distance from one to the next
  struct Part {
    Doing doing;
    int64_t ns;
  };
  std::vector<Part> host;  // of the leading thread, longest first; they sum to step_ns. Empty: no
                           // host thread recorded
  std::optional<int64_t> device_busy_ns, device_idle_ns;  // mean of the devices

  static absl::StatusOr<SteadyStep> Of(const Run& run);
};

}  // namespace xlaprof
