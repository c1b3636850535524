// Finds work of the host that nothing recorded, but that lies between two executions which different
// lines of the user's code start.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analyzers/run/idle_causes.h"
#include "analyzers/run/run.h"
#include "core/base/source_place.h"
#include "core/base/status.h"

namespace xlaprof {

struct WorkBetweenLines {
  SourcePlace before, after;
  int64_t gaps = 0;  // of those that were examined
  int64_t ns = 0;    // in these gaps, without the longest time that tracing may take
};

// Returns the two lines between which the host worked longest in these gaps, if there are any. `main_ns`
// of a gap is the time that counts. A lazy runtime traces in such times, too, so the
// time that all operations of the run's largest graph take to trace does not count as work.
absl::StatusOr<std::optional<WorkBetweenLines>> FindWorkBetweenLines(const Run& run,
                                                                     int64_t process_id,
                                                                     std::span<const LongGap> gaps);

}  // namespace xlaprof
