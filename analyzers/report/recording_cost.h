// The cost of our own recorder for the program that it recorded, and the number of lost events.
#pragma once

#include <optional>
#include <vector>

#include "analyzers/run/run.h"

namespace xlaprof {

struct RecordingCost {
  std::string program;
  std::optional<int64_t> pid;
  bool ended = false;  // false: it is still running, or was killed and not recovered
  int64_t threads = 0;
  int64_t events = 0, dropped = 0;      // with samples of counters; what the threads completed
  std::optional<int64_t> drain_cpu_ns;  // CPU time of the writer thread until its last commit
  std::optional<int64_t> span_ns;       // from the first event to the end of the last
  int64_t bytes = 0;                    // size of the events in the store
  // The dropped events include those for which the disk had no room, and those of threads without a
  // ring.
  int64_t unwritten = 0, ringless = 0;
};

absl::StatusOr<std::vector<RecordingCost>> RecordingCosts(const Run& run);

}  // namespace xlaprof
