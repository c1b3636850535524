// The figures of tracing_bound about a run whose steps wait for the host to make graphs. The time
// of tracing is the finding's cost_ns, and the number of steps is the finding's count.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "analyzers/finding.h"
#include "analyzers/run/capture.h"

namespace xlaprof {

// Tracing in the steady steps of the timeline.
struct TracingOnTimeline {
  int64_t step_ns = 0;             // time of all these steps
  bool in_scopes = false;          // user scopes that trace are included
  std::optional<int64_t> busy_ns;  // busy time of the device in these steps, if recorded
};

// Tracing according to torch_xla's counters and times.
struct TracingInMetrics {
  int64_t tracing_sum_ns = 0, tracing_samples = 0;  // of LazyTracing, including its slowest values
  int64_t execute_sum_ns = 0, execute_samples = 0;  // of ExecuteTime
  std::optional<double> share;                      // the part of the time that tracing takes
  OptInt process_ns;  // the time of the process, if it is known; otherwise `share` is of the last values
  OptReal uploads_per_step;  // if there are so many that making them is a part of the tracing
};

struct TracingBoundFigures {
  std::variant<TracingOnTimeline, TracingInMetrics> seen;
  // Settings of the capture. They are the cause if the reason is kCaptureSettings.
  SlowSettings settings;
};

// Returns the words of a finding that has TracingBoundFigures.
Words SayTracingBound(const Finding& finding, Framework framework);

}  // namespace xlaprof
