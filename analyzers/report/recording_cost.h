// The cost of recording for the program that our own recorder recorded, and what was lost.
#pragma once

#include <optional>
#include <vector>

#include "analyzers/run/run.h"

namespace xlaprof {

struct RecordingCost {
  std::string program;
  std::optional<int64_t> pid;
  bool ended = false;  // false: runs still, or was killed and not recovered
  int64_t threads = 0;
  int64_t events = 0, dropped = 0;      // with samples of counters; what the threads completed
  std::optional<int64_t> drain_cpu_ns;  // of the thread that wrote, up to the last commit
  std::optional<int64_t> span_ns;       // from the first event to the end of the last
  int64_t bytes = 0;                    // of the events in the store
};

absl::StatusOr<std::vector<RecordingCost>> RecordingCosts(const Run& run);

}  // namespace xlaprof
