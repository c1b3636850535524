// The step marks that the last metrics report of a lazy program counts.
#pragma once

#include "analyzers/run/run.h"

namespace xlaprof {

// The last report that times tracing and executed no operation one by one: eager mode cuts the graph
// at each operation, so that it misses no step mark. All is empty without such a report.
struct LastTracing {
  OptInt step_marks;         // step marks that the report counts; empty: it does not say
  OptInt traced_operations;  // samples of LazyTracing
  OptInt executions;         // samples of ExecuteTime
  // The last report that times tracing, eager or not, has the counters of the runtime's client: it
  // was not cut before the counters, which step marks are among.
  bool shows_counters = false;

  static absl::StatusOr<LastTracing> Of(const Run& run);
};

}  // namespace xlaprof
