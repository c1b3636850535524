// When each device stood idle between executions, and which part of the time counts: the steady
// part, after warm-up.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "analyzers/run/steps.h"
#include "core/base/status.h"

namespace xlaprof {

struct DeviceIdle {
  DeviceTime time;
  std::vector<Interval> occupied;  // busy, or inside an execution: disjoint, sorted
  // From the first steady step to the end of the last one or of the device's work. Without timed
  // steps: from the first run of the program on which the device spends most of its time; what
  // comes before is loading and first executions of helpers. Empty when all is warm-up.
  Interval steady;
  Interval warm_up;            // from the device's first work to `steady`
  std::vector<Interval> gaps;  // not occupied, in `steady`
  int64_t idle_ns = 0;         // sum of the gaps
  int64_t warm_up_idle_ns = 0;
  int64_t chances = 0;    // steady steps, else executions in `steady`
  bool by_steps = false;  // `chances` are steps

  double idle_share() const {
    return steady.length_ns() > 0 ? double(idle_ns) / double(steady.length_ns()) : 0;
  }
};

// The idle time of each device, in the order of DeviceTimes.
struct IdleTime {
  std::vector<DeviceIdle> devices;

  static absl::StatusOr<IdleTime> Of(const Run& run);
};

// Time that `with` shares with disjoint, sorted intervals.
int64_t Overlap(const std::vector<Interval>& sorted, Interval with);

}  // namespace xlaprof
