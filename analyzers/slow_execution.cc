// Finds executions that take long by themselves, or compared with others of the same graph.
#include "analyzers/slow_execution.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "base/metric_names.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxSlowExecutionRows = 8;

struct TimedExecution {
  const ExecutionRow* row = nullptr;
  int64_t ns = 0;
  Subject subject;
  std::string graph;  // its name; "" if it has none
};
using ByGraph = std::map<std::string, std::vector<TimedExecution>>;

Evidence Cite(const TimedExecution& e) {
  return {.table = "execution", .rows = {e.row->id}, .ts_ns = e.row->ts_ns, .dur_ns = e.ns};
}

// Returns the executions of one graph that exceed the limit for a single execution.
Finding TooSlow(const std::vector<TimedExecution>& longest_first) {
  Finding finding{.needs_fixing = true,
                  .subject = longest_first.front().subject,
                  .count = 0,
                  .cost_ns = 0,
                  .reason = Reason{.type = ReasonType::kTooSlow}};
  for (const TimedExecution& e : longest_first) {
    if (e.ns <= policy::kSlowExecutionNs) break;
    ++*finding.count, *finding.cost_ns += e.ns;
    if (finding.evidence.size() < kMaxSlowExecutionRows) finding.evidence.push_back(Cite(e));
  }
  finding.figures = SlowExecutionFigures{.longest_ns = longest_first.front().ns,
                                         .threshold_ns = policy::kSlowExecutionNs};
  return finding;
}

// Returns the executions that take much longer than others of their graph, if they cost enough of
// `total_ns`, the time of all executions.
std::optional<Finding> Outliers(const std::vector<TimedExecution>& longest_first,
                                int64_t total_ns) {
  if (int64_t(longest_first.size()) < policy::kExecutionsWithUsualLength) return {};
  std::vector<int64_t> sorted;
  for (auto it = longest_first.rbegin(); it != longest_first.rend(); ++it) sorted.push_back(it->ns);
  const int64_t median = *NearestRank(sorted, 50);
  Finding finding{.subject = longest_first.front().subject,
                  .count = 0,
                  .cost_ns = 0,
                  .reason = Reason{.type = ReasonType::kOutliers}};
  for (const TimedExecution& e : longest_first) {
    if (double(e.ns) < policy::kOutlierFactor * double(median)) break;
    ++*finding.count, *finding.cost_ns += e.ns - median;
    if (finding.evidence.size() < kMaxSlowExecutionRows) finding.evidence.push_back(Cite(e));
  }
  if (*finding.count == 0 ||
      double(*finding.count) > policy::kRareOutlierShare * double(longest_first.size()) ||
      double(*finding.cost_ns) < policy::kOutlierCostShare * double(total_ns))
    return {};
  finding.figures =
      SlowExecutionFigures{.found = SlowExecutions::kOutliers,
                           .longest_ns = longest_first.front().ns,
                           .threshold_ns = policy::kSlowExecutionNs,
                           .graph = longest_first.front().graph,
                           .graph_hash = longest_first.front().subject.graph_hash.value_or(""),
                           .graph_executions = int64_t(longest_first.size()),
                           .graph_median_ns = median,
                           .outlier_factor = policy::kOutlierFactor};
  return finding;
}

Findings FromRows(ByGraph graphs) {
  int64_t total_ns = 0;
  for (const auto& [graph, all] : graphs) {
    for (const TimedExecution& e : all) total_ns += e.ns;
  }
  Findings findings;
  for (auto& [graph, all] : graphs) {
    std::ranges::stable_sort(all, std::greater<>(), &TimedExecution::ns);
    if (all.front().ns > policy::kSlowExecutionNs) {
      findings.push_back(TooSlow(all));
    } else if (std::optional<Finding> outliers = Outliers(all, total_ns)) {
      findings.push_back(*std::move(outliers));
    }
  }
  return findings;
}

Findings ExecutionsFromMetrics(const Metrics& metrics) {
  const MetricState* execute =
      metrics.last ? metrics.last->Find(metric_names::kExecuteTime) : nullptr;
  if (!execute || execute->percentiles.empty()) return {};
  const double longest = execute->percentiles.rbegin()->second;
  if (longest <= double(policy::kSlowExecutionNs)) return {};
  int64_t part = 0;  // samples above the limit, estimated from the percentiles
  for (const auto& [p, value] : execute->percentiles) {
    if (value > double(policy::kSlowExecutionNs)) {
      part = std::max<int64_t>(1, Whole((100 - p) / 100 * double(execute->samples)));
      break;
    }
  }
  Finding finding{
      .needs_fixing = true, .count = part, .reason = Reason{.type = ReasonType::kTooSlow}};
  finding.evidence = {
      {.table = "metric", .rows = {execute->id}, .text = metric_names::kExecuteTime}};
  finding.figures = SlowExecutionFigures{.found = SlowExecutions::kTooLongSamples,
                                         .longest_ns = Whole(longest),
                                         .threshold_ns = policy::kSlowExecutionNs};
  return {finding};
}

// Returns the executions that have a time, by graph. An execution without a known graph forms its
// own group.
absl::StatusOr<ByGraph> TimedExecutions(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  ByGraph timed;
  for (const ExecutionRow& row : executions->rows) {
    if (!row.dur_ns || !row.ts_ns) continue;
    const std::string key =
        graphs->IdentityOf(row.graph_id).value_or(fmt::format("execution {}", row.id));
    TimedExecution& e = timed[key].emplace_back();
    e = {&row, *row.dur_ns, sites->SubjectOf(row.site_id)};
    e.subject.graph_hash = graphs->HashOf(row.graph_id);
    if (const GraphRow* graph = graphs->Find(row.graph_id)) e.graph = graph->name.value_or("");
  }
  return timed;
}

absl::StatusOr<Findings> FindSlowExecutions(const Run& run) {
  XP_TRY(ByGraph graphs, TimedExecutions(run));
  if (!graphs.empty()) return FromRows(std::move(graphs));
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  return ExecutionsFromMetrics(*metrics);
}

}  // namespace

extern const Analyzer slow_execution{
    .name = "slow_execution",
    .summary = "executions that take long, or much longer than usual",
    .meaning =
        "An execution takes very long, or much longer than other executions of the same graph.",
    .looks_at = "executions with times, else ExecuteTime",
    .find = FindSlowExecutions,
    .say = SaySlowExecution,
    .needs = Needs::kTimelineOrExecuteTimes,
    .thresholds = {policy::kSlowExecutionNs, policy::kOutlierFactor, policy::kOutlierCostShare,
                   policy::kRareOutlierShare, policy::kExecutionsWithUsualLength}};

}  // namespace xlaprof
