#include "analyzers/run/metrics.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "analyzers/policy.h"
#include "base/metric_names.h"

namespace xlaprof {
namespace {

struct ReportId {
  int64_t id = 0, process_id = 0, source_id = 0, ordinal = 0;
  OptInt mark_step;
};

// Loads all metrics as of one report. The store has rows only for metrics that changed, so the last
// row of each name until this report holds.
absl::StatusOr<MetricsState> Load(const Store& store, const ReportId& report) {
  MetricsState state{
      .report_id = report.id, .process_id = report.process_id, .mark_step = report.mark_step};
  std::map<int64_t, MetricState*> by_id;
  std::map<std::string, int64_t, std::less<>> report_of;  // the row's report, by name
  XP_TRY(store.Each(
      "SELECT m.report_id, m.id, name, unit, samples, accumulator, value_rate, rate FROM metric m "
      "JOIN metrics_report r ON r.id = m.report_id WHERE r.source_id = ?1 AND r.ordinal <= ?2 AND "
      "coalesce(r.process_id, 0) = ?3 ORDER BY r.ordinal, m.id",
      [&](int64_t report_id, int64_t id, std::string name, std::optional<MetricUnit> unit,
          OptInt samples, OptReal sum, OptReal value_rate, OptReal rate) {
        MetricState& metric = state.metrics[name];
        int64_t& known_report = report_of[name];
        // If both registries have a name, the one that counted more is in use.
        if (known_report == report_id && metric.samples >= samples.value_or(0)) return;
        known_report = report_id;
        metric = {.id = id,
                  .unit = unit,
                  .samples = samples.value_or(0),
                  .sum = sum.value_or(0),
                  .value_rate = value_rate,
                  .rate = rate};
        by_id[id] = &metric;
      },
      report.source_id, report.ordinal, report.process_id));
  XP_TRY(store.Each(
      "SELECT metric_id, p, value FROM metric_percentile WHERE metric_id IN "
      "(SELECT id FROM metric WHERE report_id = ?1)",
      [&](int64_t id, double p, double value) {
        auto it = by_id.find(id);
        if (it != by_id.end() && it->second->id == id) it->second->percentiles[p] = value;
      },
      report.id));
  int64_t executions = 0;
  for (const std::string_view name :
       {metric_names::kExecuteTime, metric_names::kExecuteReplicatedTime}) {
    if (const MetricState* metric = state.Find(name))
      executions = std::max(executions, metric->samples);
  }
  if (executions > 0 && state.mark_step) state.mark_step = std::min(*state.mark_step, executions);
  return state;
}

}  // namespace

OptReal MetricState::usual() const {
  if (auto median = percentiles.find(50); median != percentiles.end()) return median->second;
  if (value_rate && rate && *rate > 0) return *value_rate / *rate;
  return {};
}

double MetricState::recorded_s() const {
  constexpr int64_t kRecentSamples =
      1024;  // that torch_xla keeps, unless XLA_METRICS_SAMPLES is set
  return rate.value_or(0) > 0 ? double(std::min(samples, kRecentSamples)) / *rate : 0;
}

double TracingNs(const MetricState& lazy_tracing) {
  double area = 0, last_p = 0;
  for (const auto& [p, value] : lazy_tracing.percentiles) {
    if (p > policy::kTrimPercentile) break;
    area += (p - last_p) * value;  // each part is at most its upper end
    last_p = p;
  }
  if (last_p <= 0) return lazy_tracing.sum;
  return std::min(lazy_tracing.sum, area / 100 * double(lazy_tracing.samples));
}

absl::StatusOr<Metrics> Metrics::Of(const Run& run) {
  const Store& store = run.store();
  Metrics out;
  if (!run.slice().empty()) return out;
  XP_TRY(
      std::vector<ReportId> reports,
      store.Collect(
          "SELECT id, coalesce(process_id, 0), source_id, ordinal, mark_step FROM metrics_report "
          "ORDER BY source_id, ordinal, id",
          [](int64_t id, int64_t process, int64_t source, int64_t ordinal, OptInt mark_step) {
            return ReportId{id, process, source, ordinal, mark_step};
          }));
  if (reports.empty()) return out;
  std::set<int64_t> processes;
  for (const ReportId& report : reports) processes.insert(report.process_id);
  out.processes = int64_t(processes.size());
  // If two sources describe one process (a file of saves, and the report at the end), the later
  // state wins.
  auto later = [](const ReportId& a, const ReportId& b) {
    return std::tuple(a.mark_step.value_or(-1), a.ordinal, -a.process_id) <
           std::tuple(b.mark_step.value_or(-1), b.ordinal, -b.process_id);
  };
  const ReportId last = *std::max_element(reports.begin(), reports.end(), later);
  XP_TRY(out.last, Load(store, last));

  const ReportId* middle = nullptr;
  for (const ReportId& report : reports) {
    if (report.process_id != last.process_id || !report.mark_step || !last.mark_step) continue;
    if (*report.mark_step * 2 > *last.mark_step || *report.mark_step <= 0) continue;
    if (!middle || *report.mark_step >= *middle->mark_step) middle = &report;
  }
  if (!middle || *middle->mark_step >= *last.mark_step) return out;
  XP_TRY(MetricsState before, Load(store, *middle));
  MetricsState recent = *out.last;
  if (recent.mark_step && before.mark_step)
    recent.mark_step = *recent.mark_step - *before.mark_step;
  for (auto& [name, metric] : recent.metrics) {
    metric.id = 0;
    const MetricState* earlier = before.Find(name);
    if (!earlier) continue;
    // If there are fewer samples than before, the program cleared the registry in between, so the
    // difference means nothing.
    if (earlier->samples > metric.samples) return out;
    metric.samples -= earlier->samples;
    metric.sum = std::max(0.0, metric.sum - earlier->sum);
  }
  out.recent = std::move(recent);
  return out;
}

}  // namespace xlaprof
