// Reads what the metrics of a lazy runtime count: fetches, copies of ops without lowering, step marks.
#pragma once

#include <string>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// Counts values that the host fetched from the device, by the metrics and torch_xla's own lines.
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

// The copies of ops without lowering in a run whose only times are sums of metrics. Each call of
// such an op fetches its inputs and sends its result back.
struct FallbackCopies {
  int64_t calls = 0;                 // counted calls of all ops without lowering
  int64_t fetches = 0, uploads = 0;  // their copies; 0 if not known
  // Their times. If numbers are read as well, the time of all executions is subtracted, because a
  // read may wait for any of them.
  int64_t fetch_ns = 0, upload_ns = 0;
  bool has_reads = false;  // numbers are read as well

  int64_t copies() const { return fetches + uploads; }
  int64_t copy_ns() const { return fetch_ns + upload_ns; }

  // Returns no copies if the timeline has them, or if other reads of tensors share the metrics.
  static absl::StatusOr<FallbackCopies> Of(const Run& run);
};

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
