// Writes the rows of metrics reports.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <string_view>
#include <utility>

#include "profiler/import/log/dialect.h"
#include "profiler/import/torch_xla/metrics_text.h"

namespace xlaprof {

// Writes reports in the order in which they were saved, and the fallbacks that the last report of
// each run counts. The text that the reports view must outlive this object.
//
// To keep the rows of a long run few, only the first and the last report of a run are written
// whole, the last with percentiles. Of the reports between, an entry is written if it changed;
// after 200 reports, it is written only if analyzers follow it.
class MetricsWriter {
 public:
  // The reports are of `run` and those that follow it. If `runs` is given, a new run begins where
  // the reports start again, and is noted there; otherwise all are of one run. `origin` is the
  // process that wrote them. If it is unknown, they belong to the first process of the run.
  MetricsWriter(LogReading& reading, int run, LogRuns* runs, LogOrigin origin = {})
      : context_(reading.context),
        processes_(reading.processes),
        run_(run),
        runs_(runs),
        origin_(std::move(origin)) {}

  absl::Status Take(MetricsText report);
  // Writes the rest of the run.
  absl::Status EndRun();
  int run() const { return run_; }  // run of the last report

 private:
  void CountFallbacks(const MetricsText& report);
  // Writes all entries if `whole`, else those that changed; percentiles too if `last`.
  absl::Status Write(const MetricsText& report, bool whole, bool last = false);
  absl::Status WriteMetric(int64_t report_id, std::string_view name, const MetricEntry& entry,
                           bool percentiles);

  struct Total {
    int64_t before_clear = 0, value = 0;
    int64_t offset = 0, line = 0;
  };
  ImportContext& context_;
  LogProcesses& processes_;
  int run_;
  LogRuns* const runs_;
  const LogOrigin origin_;
  MetricsText previous_;
  bool previous_is_apart_ = false;     // it does not continue the report before it
  int64_t reports_ = 0, written_ = 0;  // counts of this run
  absl::flat_hash_map<std::string_view, std::string> last_text_;  // by entry, as it was written
                                                                  // last
  absl::flat_hash_map<std::string, Total> fallbacks_;
};

}  // namespace xlaprof
