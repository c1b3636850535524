#include "analyzers/run/last_tracing.h"

namespace xlaprof {

absl::StatusOr<LastTracing> LastTracing::Of(const Run& run) {
  LastTracing last;
  XP_TRY(const OptInt report_id,
         run.store().One<int64_t>("SELECT max(report_id) FROM metric WHERE name = 'LazyTracing'"));
  if (!report_id) return last;
  XP_TRY(const std::vector<MetricRow> metrics,
         run.Rows<MetricRow>("WHERE report_id = ?1 ORDER BY id", *report_id));
  for (const MetricRow& metric : metrics) {
    if (metric.name == "LazyTracing" && !last.traced_operations)
      last.traced_operations = metric.samples;
    if (metric.name == "ExecuteTime") last.executions = std::max(last.executions, metric.samples);
    if (metric.name == "EagerOpExecuteTime") last.is_eager |= metric.samples.value_or(0) > 0;
  }
  XP_TRY(const std::vector<CounterRow> counters,
         run.Rows<CounterRow>("WHERE report_id = ?1", *report_id));
  for (const CounterRow& counter : counters) {
    last.shows_counters |= counter.name == "CreateCompileHandles" ||
                           counter.name == "CreateDataHandles" ||
                           counter.name == "ReleaseDataHandles";
  }
  XP_TRY(const std::vector<MetricsReportRow> reports,
         run.Rows<MetricsReportRow>("WHERE id = ?1", *report_id));
  if (!reports.empty()) last.step_marks = reports.front().mark_step;
  return last;
}

}  // namespace xlaprof
