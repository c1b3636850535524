// The copies of ops without lowering in a run whose only times are sums of metrics. Each call of
// such an op fetches its inputs and sends its result back.
#pragma once

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

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

}  // namespace xlaprof
