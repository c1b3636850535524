#include "analyzers/run/metric_counts.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/run/early_cuts.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/tables.h"
#include "base/metric_names.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

// Reads the last state of each metric that counts fetches or executions.
void ReadMetrics(const std::vector<MetricRow>& metrics, Fetches& fetches) {
  const MetricRow *transfers = nullptr, *inbound = nullptr, *executions = nullptr;
  for (const MetricRow& metric : metrics) {
    const bool times_fetches = metric.name == metric_names::kTransferFromDeviceTime ||
                               metric.name == metric_names::kTransferFromServerTime;
    if (times_fetches && metric.samples) transfers = &metric;
    if (metric.name == metric_names::kInboundData && metric.samples.value_or(0) > 0)
      inbound = &metric;
    if (metric.name == metric_names::kExecuteTime ||
        metric.name == metric_names::kExecuteReplicatedTime)
      executions = &metric;
  }
  if (transfers != nullptr) {
    fetches.count = transfers->samples;
    fetches.metric = transfers->name;
    if (transfers->accumulator) fetches.time_ns = Whole(*transfers->accumulator);
  }
  // Each fetch is a sample of InboundData, too. A pasted report that ends before the transfers may
  // still hold it.
  if (inbound != nullptr) {
    if (!fetches.count) fetches.count = inbound->samples, fetches.metric = inbound->name;
    if (inbound->accumulator)
      fetches.mean_bytes = *inbound->accumulator / double(*inbound->samples);
  }
  if (executions != nullptr) fetches.executions = executions->samples;
}

// Reads torch_xla's own lines about fetches that are too frequent.
void ReadProfilerLines(const std::vector<ProfilerLineRow>& lines, Fetches& fetches) {
  const ProfilerLineRow* last = nullptr;
  std::set<int64_t> counts, steps;
  for (const ProfilerLineRow& line : lines) {
    if (line.rule != ProfilerRule::kTransferFromFrequent) continue;
    if (last == nullptr || line.ordinal > last->ordinal) last = &line;
    if (line.samples && line.steps) counts.insert(*line.samples), steps.insert(*line.steps);
  }
  if (last == nullptr) return;
  if (!fetches.count) {
    fetches.count = last->samples;
    fetches.metric = metric_names::kTransferFromDeviceTime;
    fetches.profiler_line = last->text;
  }
  // If the lines have the same count at several steps, all fetches came before the first of them.
  fetches.go_on = counts.size() > 1 || steps.size() < 2;
}

}  // namespace

absl::StatusOr<Fetches> Fetches::Of(const Run& run) {
  XP_TRY(const MetricRows* metrics, run.Get<MetricRows>());
  XP_TRY(const ProfilerLines* lines, run.Get<ProfilerLines>());
  Fetches fetches;
  ReadMetrics(metrics->rows, fetches);
  ReadProfilerLines(lines->rows, fetches);
  return fetches;
}

namespace {

// Returns the number of calls of all ops without lowering, or nothing if some are not counted.
OptInt CallsOf(const EarlyCuts& cuts) {
  int64_t calls = 0;
  for (const FallbackOp& op : cuts.ops) {
    if (!op.count) return {};
    calls += *op.count;
  }
  return calls > 0 ? OptInt(calls) : OptInt();
}

void AddFetches(const Fetches& fetches, int64_t reads, FallbackCopies& copies) {
  if (!fetches.count || !fetches.time_ns) return;
  // Every call fetches once. More fetches than calls and reads of numbers are reads of tensors.
  if (*fetches.count != copies.calls + reads) return;
  copies.fetches = copies.calls;
  copies.fetch_ns = *fetches.time_ns;
}

}  // namespace

absl::StatusOr<FallbackCopies> FallbackCopies::Of(const Run& run) {
  FallbackCopies copies;
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  XP_TRY(const EarlyCuts* cuts, run.Get<EarlyCuts>());
  XP_TRY(const Fetches* fetches, run.Get<Fetches>());
  const OptInt calls = CallsOf(*cuts);
  const bool on_timeline = std::ranges::any_of(
      transfers->rows, [](const TransferRow& row) { return row.ts_ns.has_value(); });
  if (on_timeline || !calls || !metrics->last) return copies;
  copies.calls = *calls;
  const int64_t reads = cuts->scalar_reads.value_or(0);
  copies.has_reads = reads > 0;
  AddFetches(*fetches, reads, copies);
  if (copies.has_reads) {
    const MetricState* execute = metrics->last->Find(metric_names::kExecuteTime);
    if (execute == nullptr) return FallbackCopies();
    copies.fetch_ns = std::max<int64_t>(0, copies.fetch_ns - Whole(execute->sum));
  }
  // Uploads of anything else, such as weights, would make them more than the calls.
  const MetricState* uploads = metrics->last->Find(metric_names::kTransferToDeviceTime);
  if (uploads == nullptr) uploads = metrics->last->Find(metric_names::kTransferToServerTime);
  if (uploads != nullptr && uploads->unit == MetricUnit::kNs && uploads->samples > 0 &&
      uploads->samples <= copies.calls) {
    copies.uploads = uploads->samples;
    copies.upload_ns = Whole(uploads->sum);
  }
  return copies;
}

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
