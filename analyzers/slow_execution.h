// The figures and words of slow_execution.
#pragma once

#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

enum class SlowExecutions : uint8_t {
  kTooLong,         // longer than `threshold_ns`, by their times
  kOutliers,        // `outlier_factor` times as long as the median of their graph, or longer
  kTooLongSamples,  // longer than `threshold_ns`, by the percentiles of a metric
};

struct SlowExecutionFigures {
  SlowExecutions found = SlowExecutions::kTooLong;
  int64_t longest_ns = 0;
  int64_t threshold_ns = 0;
  // The following figures are set for outliers only.
  std::string graph, graph_hash;  // its name and hash; "" if not known
  int64_t graph_executions = 0;
  int64_t graph_median_ns = 0;
  double outlier_factor = 0;
};

// Says how long the executions took and where to look for the cause.
Words SaySlowExecution(const Finding& finding, Framework framework);

}  // namespace xlaprof
