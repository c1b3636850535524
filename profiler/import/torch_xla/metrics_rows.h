// The rows of metrics reports.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <string_view>
#include <utility>

#include "profiler/import/importer.h"
#include "profiler/import/torch_xla/metrics_text.h"

namespace xlaprof {

// Writes reports in the order in which they were saved, and the fallbacks that the last of each run
// counts. The text that they view must outlive it.
//
// To keep a long run small, only the first and the last report of a run are written whole, the last
// with percentiles. Of those between, an entry is written where it changed; after 200 reports, only
// if analyzers follow it.
class MetricsWriter {
 public:
  // `finds_restarts`: begin a new run where the reports begin anew; else all are of one run.
  // `origin`: whose they are; where it tells nothing, they are the context's process's.
  MetricsWriter(ImportContext& context, bool finds_restarts, LogOrigin origin = {})
      : context_(context), finds_restarts_(finds_restarts), origin_(std::move(origin)) {}

  absl::Status Take(MetricsText report);
  // Writes what is left of the run.
  absl::Status EndRun();

 private:
  absl::StatusOr<int64_t> ProcessId();
  void CountFallbacks(const MetricsText& report);
  // `whole`: all entries, else those that changed. `last`: percentiles too.
  absl::Status Write(const MetricsText& report, bool whole, bool last = false);
  absl::Status WriteMetric(int64_t report_id, std::string_view name, const MetricEntry& entry,
                           bool percentiles);

  struct Total {
    int64_t before_clear = 0, value = 0;
    int64_t offset = 0, line = 0;
  };
  ImportContext& context_;
  const bool finds_restarts_;
  const LogOrigin origin_;
  OptInt process_id_;  // of this run
  MetricsText previous_;
  bool previous_is_apart_ = false;     // it does not go on from the one before it
  int64_t reports_ = 0, written_ = 0;  // of this run
  absl::flat_hash_map<std::string_view, std::string> last_text_;  // entry -> as it was written last
  absl::flat_hash_map<std::string, Total> fallbacks_;
};

}  // namespace xlaprof
