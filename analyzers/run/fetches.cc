#include "analyzers/run/fetches.h"

#include <set>

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

}  // namespace xlaprof
