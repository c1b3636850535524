// The step marks that the last metrics report of a lazy program counts.
#pragma once

#include "analyzers/run/run.h"

namespace xlaprof {

// The last report that times tracing and executed no operation one by one. Eager mode cuts the
// graph at each operation, so it needs no step mark. All members are empty without such a report.
struct LastTracing {
  OptInt step_marks;         // step marks that the report counts; empty if not counted
  OptInt traced_operations;  // values of LazyTracing
  OptInt executions;         // values of ExecuteTime
  // Says whether the last report that times tracing, eager or not, has the counters of the
  // runtime's client. If so, it was not cut before the counters, which include step marks.
  bool shows_counters = false;

  static absl::StatusOr<LastTracing> Of(const Run& run);
};

}  // namespace xlaprof
