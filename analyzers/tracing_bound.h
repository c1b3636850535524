// The figures of tracing_bound about a run whose steps wait for the host to make graphs. The time
// of tracing is the finding's cost_ns, and the number of steps is the finding's count.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "analyzers/finding.h"
#include "analyzers/run/capture_settings.h"

namespace xlaprof {

// Tracing in the steady steps of the timeline.
struct TracingOnTimeline {
  int64_t step_ns = 0;             // of all these steps
  bool in_scopes = false;          // scopes of the user that trace are counted too
  std::optional<int64_t> busy_ns;  // of the device in these steps; unset if it was not recorded
};

// Tracing as torch_xla's counters and times have it.
struct TracingInMetrics {
  int64_t tracing_sum_ns = 0, tracing_samples = 0;  // of LazyTracing, with its slowest samples
  int64_t execute_sum_ns = 0, execute_samples = 0;  // of ExecuteTime
  std::optional<double> share_of_wall;              // of the time of its recent samples
};

struct TracingBoundFigures {
  std::variant<TracingOnTimeline, TracingInMetrics> seen;
  // Settings of the capture, which are the reason if it is kCaptureSettings.
  SlowSettings settings;
};

// Returns the words of a finding that has TracingBoundFigures.
Words SayTracingBound(const Finding& finding, Framework framework);

}  // namespace xlaprof
