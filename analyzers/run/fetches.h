// Counts values that the host fetched from the device, by the metrics and torch_xla's own lines.
#pragma once

#include <string>

#include "analyzers/run/run.h"

namespace xlaprof {

struct Fetches {
  OptInt count;               // empty if not known
  std::string metric;         // the metric that has the count
  OptInt time_ns;             // time of all fetches
  double mean_bytes = 0;      // bytes per fetch; 0 if not known
  std::string profiler_line;  // torch_xla's own line, if only it has the count
  bool go_on = true;          // false: the count is the same at several steps
  OptInt executions;          // executions that the same report counts

  static absl::StatusOr<Fetches> Of(const Run& run);
};

}  // namespace xlaprof
