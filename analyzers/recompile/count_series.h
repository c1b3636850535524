// Numbers of compiles and executions that a process counted repeatedly: in metrics reports, or in
// torch_xla's own lines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzers/recompile/counts.h"
#include "analyzers/run/run.h"

namespace xlaprof {

// No run reaches this count, and a sum of a few such numbers does not overflow.
inline constexpr int64_t kMostCounted = int64_t{1} << 60;

// One report or line. All numbers are counted since the start of the process.
struct CountSample {
  int64_t row = 0;  // row of table metrics_report or profiler_line
  OptInt steps, saves, compiles, executions, compile_ns, execute_ns;
  OptInt cached;  // executions of graphs that were not compiled
  OptInt uploads;
  OptInt counted_compiles;  // from a counter, which is not cleared with the metrics
};

struct CountSeries {
  std::string table;  // metrics_report or profiler_line
  CountSource source;
  std::vector<CountSample> samples;
  bool is_cut = false;    // missing numbers may be in a missing part of the input
  bool is_apart = false;  // no sample continues the one before it
};

// The series of each process that has one. If there are several sources, the one with most samples
// is used. Reports are preferred to lines, unless the last report has no number of compiles.
struct CountSeriesByProcess {
  std::map<int64_t, CountSeries> series;

  static absl::StatusOr<CountSeriesByProcess> Of(const Run& run);
};

}  // namespace xlaprof
