// Finds when each device was idle between executions, in the steady part of the run after warm-up.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "analyzers/run/steps.h"
#include "base/status.h"

namespace xlaprof {

struct DeviceIdle {
  DeviceTime time;
  std::vector<Interval> occupied;  // busy or inside an execution; disjoint, sorted
  // From the first steady step to the end of the last one or of the device's work. Without timed
  // steps, it begins at the first run of the program that takes most of the device's time, because
  // loading and first runs of helpers come before that. Empty if everything is warm-up.
  Interval steady;
  Interval warm_up;            // from the device's first work to `steady`
  std::vector<Interval> gaps;  // times in `steady` that are not occupied
  int64_t idle_ns = 0;         // sum of the gaps
  int64_t warm_up_idle_ns = 0;
  int64_t chances = 0;    // steady steps, or else executions in `steady`
  bool by_steps = false;  // `chances` are steps
  // False if only other devices of its process work in the steps, or if only copies were recorded.
  bool takes_part = true;

  double idle_share() const {
    return steady.length_ns() > 0 ? double(idle_ns) / double(steady.length_ns()) : 0;
  }
};

// The idle time of each device, in the order of DeviceTimes.
struct IdleTime {
  std::vector<DeviceIdle> devices;

  // Returns the idle time of the device that idles most; nothing if no device takes part.
  OptInt most_ns() const;

  static absl::StatusOr<IdleTime> Of(const Run& run);
};

// Returns the time that `with` shares with disjoint, sorted intervals.
int64_t Overlap(const std::vector<Interval>& sorted, Interval with);

}  // namespace xlaprof
