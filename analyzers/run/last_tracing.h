// The step marks of the last metrics report that times tracing.
#pragma once

#include "analyzers/run/run.h"

namespace xlaprof {

// Everything is empty or false without such a report.
struct LastTracing {
  OptInt step_marks;         // step marks that the report counts; empty: it does not say
  OptInt traced_operations;  // samples of LazyTracing
  OptInt executions;         // samples of ExecuteTime
  bool is_eager = false;     // operations were executed one by one
  bool shows_counters = false;  // the counters of the runtime's client are in the report

  static absl::StatusOr<LastTracing> Of(const Run& run);
};

}  // namespace xlaprof
