// Combines the metrics reports of a run: the state at the end and, if several reports were saved,
// the difference since the middle of the run. Metrics are cumulative and have no clock, so a chosen
// part has no metrics.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct MetricState {
  int64_t id = 0;  // row of table metric; 0 in a difference
  std::optional<MetricUnit> unit;
  int64_t samples = 0;
  double sum = 0;                        // sum of all values
  std::map<double, double> percentiles;  // p -> value, of the most recent values only
  OptReal value_rate, rate;              // unit and values per second, of the same values
  double mean() const { return samples > 0 ? sum / double(samples) : 0; }
  // Returns the usual value, which the first values do not affect: the median, or else the mean,
  // of the most recent values. Returns nothing if neither was printed.
  OptReal usual() const;
  // Returns the seconds from the first to the last of the most recent values; 0 if not printed.
  double recorded_s() const;
};

struct MetricsState {
  int64_t report_id = 0, process_id = 0;
  // Step marks, of which some execute nothing: a loader marks after the step has been marked. There
  // are no more steps than executions, so this is the smaller of the two numbers.
  OptInt mark_step;
  std::map<std::string, MetricState, std::less<>> metrics;

  const MetricState* Find(std::string_view name) const {
    auto it = metrics.find(name);
    return it == metrics.end() ? nullptr : &it->second;
  }
};

struct Metrics {
  // The last report of the process with most step marks, or else with most values.
  std::optional<MetricsState> last;
  // The last report minus the one nearest to half of its step marks. Percentiles are those of the
  // last report. Empty if there is only one report.
  std::optional<MetricsState> recent;
  int64_t processes = 0;  // number of processes with reports

  // Returns the steady part: `recent` if it exists, or else `last`.
  const MetricsState* steady() const { return recent ? &*recent : last ? &*last : nullptr; }

  // Returns empty metrics for a store without reports or with a chosen part.
  static absl::StatusOr<Metrics> Of(const Run& run);
};

// Returns the ns that LazyTracing spent on tracing. This is estimated from its recent values
// without the slowest, times the number of values, because a read inside a traced call (item,
// print) also waits for compilation and execution.
double TracingNs(const MetricState& lazy_tracing);

}  // namespace xlaprof
