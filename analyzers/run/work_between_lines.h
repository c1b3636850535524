// Finds work of the host that nothing recorded, but that lies between two executions which different
// lines of the user's code start.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analyzers/run/idle_causes.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

struct WorkBetweenLines {
  SourcePlace before, after;
  int64_t gaps = 0;
  int64_t ns = 0;  // the time in these gaps
};

// Returns the two lines between which the host worked longest in these gaps, if there are any. `main_ns`
// of a gap is the time that counts. A lazy runtime traces in such times, too, so only gaps count of
// which tracing takes less than half, even if it traces the run's largest graph.
absl::StatusOr<std::optional<WorkBetweenLines>> FindWorkBetweenLines(const Run& run,
                                                                     int64_t process_id,
                                                                     std::span<const LongGap> gaps);

}  // namespace xlaprof
