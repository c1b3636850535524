// The times from the end of a step to the end of the next, which are disjoint and include the time
// between two steps.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct StepPeriods {
  std::map<int64_t, std::vector<Interval>> steady;  // by process: those of steady steps, in order
  std::set<int64_t> by_batch;  // processes whose periods each belong to a batch of a loader

  // A step that nobody marked on the timeline ends where the host asks for its last execution, or
  // else where its loader hands out the next batch.
  static absl::StatusOr<StepPeriods> Of(const Run& run);
};

}  // namespace xlaprof
