#include "analyzers/run/last_tracing.h"

#include <algorithm>
#include <map>

#include "analyzers/run/tables.h"
#include "base/metric_names.h"

namespace xlaprof {
namespace {

// The metrics of one report that show how the program ran.
struct ReportedWork {
  const MetricRow* tracing = nullptr;  // null if the report does not time tracing
  OptInt executions;
  bool is_eager = false;  // operations were executed one by one
};

std::map<int64_t, ReportedWork> WorkByReport(const std::vector<MetricRow>& metrics) {
  std::map<int64_t, ReportedWork> by_report;
  for (const MetricRow& metric : metrics) {
    ReportedWork& work = by_report[metric.report_id];
    if (metric.name == metric_names::kLazyTracing && work.tracing == nullptr)
      work.tracing = &metric;
    if (metric.name == metric_names::kExecuteTime)
      work.executions = std::max(work.executions, metric.samples);
    if (metric.name == metric_names::kEagerOpExecuteTime)
      work.is_eager |= metric.samples.value_or(0) > 0;
  }
  std::erase_if(by_report, [](const auto& report) { return report.second.tracing == nullptr; });
  return by_report;
}

bool IsOfClient(const CounterRow& counter) {
  return counter.name == metric_names::kCreateCompileHandles ||
         counter.name == metric_names::kCreateDataHandles ||
         counter.name == metric_names::kReleaseDataHandles;
}

}  // namespace

absl::StatusOr<LastTracing> LastTracing::Of(const Run& run) {
  LastTracing last;
  XP_TRY(const MetricRows* metrics, run.Get<MetricRows>());
  const std::map<int64_t, ReportedWork> by_report = WorkByReport(metrics->rows);
  if (by_report.empty()) return last;
  XP_TRY(const std::vector<CounterRow> counters,
         run.Rows<CounterRow>("WHERE report_id = ?1", by_report.rbegin()->first));
  last.shows_counters = std::ranges::any_of(counters, IsOfClient);
  XP_TRY(const MetricsReports* reports, run.Get<MetricsReports>());
  for (auto report = reports->rows.rbegin(); report != reports->rows.rend(); ++report) {
    const auto work = by_report.find(report->id);
    if (work == by_report.end() || work->second.is_eager) continue;
    last.step_marks = report->mark_step;
    last.traced_operations = work->second.tracing->samples;
    last.executions = work->second.executions;
    break;
  }
  return last;
}

}  // namespace xlaprof
