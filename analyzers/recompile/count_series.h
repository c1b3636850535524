// Numbers of compiles and executions that a process counted again and again: in metrics reports, or in
// torch_xla's own lines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzers/recompile/counts.h"
#include "analyzers/run/run.h"

namespace xlaprof {

// No run counts as far as this, and a sum of a few such numbers does not overflow.
inline constexpr int64_t kMostCounted = int64_t{1} << 60;

// One report or line. All numbers are counted since the start of the process.
struct CountSample {
  int64_t row = 0;  // of table metrics_report or profiler_line
  OptInt steps, saves, compiles, executions, compile_ns, execute_ns;
  OptInt cached;  // executions of graphs that were not compiled
  OptInt uploads;
  OptInt counted_compiles;  // by a counter, which clearing the metrics leaves as it is
};

struct CountSeries {
  std::string table;  // metrics_report or profiler_line
  CountSource source;
  std::vector<CountSample> samples;
  bool is_cut = false;    // what the series lacks may be in a part that is missing
  bool is_apart = false;  // no sample goes on from the one before it
};

// The series of each process that has one. Of several sources the one with most samples counts.
// Reports count before lines, unless the last report has no number of compiles.
struct CountSeriesByProcess {
  std::map<int64_t, CountSeries> series;

  static absl::StatusOr<CountSeriesByProcess> Of(const Run& run);
};

}  // namespace xlaprof
