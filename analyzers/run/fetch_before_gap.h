// Finds the fetches from the device after which it idles: the host waits for a value, and then works
// with it while the device has nothing to do.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct FetchesBeforeGaps {
  int64_t gaps = 0;  // gaps in whose first half, or shortly before, a fetch ended
  std::string name;  // of the event of the first such fetch, without its class; "" if not recorded
};

absl::StatusOr<FetchesBeforeGaps> FetchesBefore(const Run& run, int64_t process_id,
                                                std::span<const Interval> gaps);

}  // namespace xlaprof
