#include "analyzers/recompile/count_series.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analyzers/run/tables.h"
#include "base/metric_names.h"
#include "base/whole.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

using SeriesOfSources =
    std::map<std::pair<int64_t, int64_t>, CountSeries>;  // by process and source
using SampleOfReport = std::map<int64_t, CountSample*>;  // by row of the report

// Marks the series whose source was cut, or has reports that do not continue one another.
void TakeIssues(const std::vector<ImportIssueRow>& issues, SeriesOfSources& by_source) {
  std::map<int64_t, int64_t> go_on;  // per source: reports that follow another of their process
  for (const auto& [key, series] : by_source)
    go_on[key.second] += static_cast<int64_t>(series.samples.size()) - 1;
  for (const ImportIssueRow& issue : issues) {
    const bool is_apart = issue.code == issue_codes::kSeparateReports;
    if (!is_apart && issue.code != issue_codes::kCutFile &&
        issue.code != issue_codes::kHeadlessReport)
      continue;
    for (auto& [key, series] : by_source) {
      if (key.second != issue.source_id.value_or(0)) continue;
      if (is_apart) {
        series.is_apart = issue.count >= go_on[key.second];
      } else {
        series.is_cut = true;
      }
    }
  }
}

void TakeMetrics(const std::vector<MetricRow>& metrics, SampleOfReport& by_report) {
  for (const MetricRow& metric : metrics) {
    const auto at = by_report.find(metric.report_id);
    if (at == by_report.end()) continue;
    CountSample& sample = *at->second;
    const OptInt ns =
        metric.accumulator ? OptInt(Whole(std::round(*metric.accumulator))) : OptInt();
    if (metric.name == metric_names::kTransferToDeviceTime) {
      sample.uploads = metric.samples;
    } else if (metric.name == metric_names::kCompileTime) {
      sample.compiles = metric.samples, sample.compile_ns = ns;
    } else if (metric.name == metric_names::kExecuteTime ||
               metric.name == metric_names::kExecuteReplicatedTime) {
      if (metric.samples && (!sample.executions || *metric.samples > *sample.executions))
        sample.executions = metric.samples, sample.execute_ns = ns;
    }
  }
}

void TakeCounters(const std::vector<CounterRow>& counters, SampleOfReport& by_report) {
  for (const CounterRow& counter : counters) {
    const auto at = by_report.find(counter.report_id);
    if (at == by_report.end()) continue;
    CountSample& sample = *at->second;
    if (counter.name == metric_names::kMarkStep && !sample.steps) sample.steps = counter.value;
    if (counter.name == metric_names::kUncachedCompile)
      sample.compiles = sample.counted_compiles = counter.value;
    if (counter.name == metric_names::kCachedCompile) sample.cached = counter.value;
  }
}

void FillIn(CountSeries& series) {
  // Old reports do not count step marks. One report was saved at each step.
  const bool marks =
      std::ranges::any_of(series.samples, [](const CountSample& s) { return s.steps.has_value(); });
  for (CountSample& sample : series.samples) {
    if (!marks) sample.steps = sample.saves;
    if (!sample.executions && sample.cached)
      sample.executions = std::min(*sample.cached, kMostCounted) +
                          std::min(sample.compiles.value_or(0), kMostCounted);
  }
}

absl::StatusOr<std::map<int64_t, CountSeries>> FromReports(const Run& run) {
  XP_TRY(const MetricsReports* table, run.Get<MetricsReports>());
  std::vector<MetricsReportRow> reports = table->rows;
  std::ranges::stable_sort(reports, [](const MetricsReportRow& a, const MetricsReportRow& b) {
    return std::tuple(a.process_id.value_or(0), a.source_id, a.ordinal) <
           std::tuple(b.process_id.value_or(0), b.source_id, b.ordinal);
  });
  SeriesOfSources by_source;
  for (const MetricsReportRow& report : reports) {
    by_source[{report.process_id.value_or(0), report.source_id}].samples.push_back(
        {.row = report.id,
         .steps = report.mark_step,
         .saves = report.save_number ? OptInt(*report.save_number + 1) : OptInt()});
  }
  SampleOfReport by_report;
  for (auto& [key, series] : by_source) {
    for (CountSample& sample : series.samples) by_report[sample.row] = &sample;
  }
  XP_TRY(const MetricRows* metrics, run.Get<MetricRows>());
  TakeMetrics(metrics->rows, by_report);
  XP_TRY(const std::vector<CounterRow> counters, run.Rows<CounterRow>());
  TakeCounters(counters, by_report);
  XP_TRY(const std::vector<ImportIssueRow> issues, run.Rows<ImportIssueRow>());
  TakeIssues(issues, by_source);
  std::map<int64_t, CountSeries> best;
  for (auto& [key, series] : by_source) {
    FillIn(series);
    series.table = "metrics_report";
    series.source = {CountSource::Kind::kReports, series.samples.size()};
    CountSeries& kept = best[key.first];
    if (series.samples.size() > kept.samples.size()) kept = std::move(series);
  }
  return best;
}

absl::StatusOr<std::map<int64_t, CountSeries>> FromLines(const Run& run) {
  XP_TRY(const ProfilerLines* table, run.Get<ProfilerLines>());
  std::vector<ProfilerLineRow> lines = table->rows;
  std::ranges::stable_sort(lines, std::less<>(), &ProfilerLineRow::ordinal);
  std::map<int64_t, CountSeries> by_process;
  for (const ProfilerLineRow& line : lines) {
    if (line.rule != ProfilerRule::kCompileFrequent || !line.samples || !line.steps) continue;
    by_process[line.process_id.value_or(0)].samples.push_back(
        {.row = line.id, .steps = line.steps, .compiles = line.samples});
  }
  for (auto& [process_id, series] : by_process) {
    series.table = "profiler_line";
    series.source = {CountSource::Kind::kFrequentLines, series.samples.size()};
  }
  return by_process;
}

}  // namespace

absl::StatusOr<CountSeriesByProcess> CountSeriesByProcess::Of(const Run& run) {
  XP_TRY(auto series, FromReports(run));
  XP_TRY(auto lines, FromLines(run));
  for (auto& [process_id, of_lines] : lines) {
    const auto at = series.find(process_id);
    if (at == series.end() || !at->second.samples.back().compiles)
      series[process_id] = std::move(of_lines);
  }
  return CountSeriesByProcess{std::move(series)};
}

}  // namespace xlaprof
