// Finds executions that take long: by themselves, or against others of the same graph.
#include "analyzers/slow_execution.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/steps.h"
#include "core/base/whole.h"

namespace xlaprof {
namespace {

// torch_xla's own rule for a single instance.
constexpr int64_t kTooSlowNs = 30'000'000'000;
// An execution of a graph that is usually this much faster is an outlier; below, machines shared
// with others spread.
constexpr double kOutlierFactor = 5;
// Outliers are worth a line if what they cost above the median is this part of all execution time.
constexpr double kOutlierShare = 0.05;
constexpr int64_t kMinExecutions = 5;  // fewer have no usual length
constexpr size_t kMaxEvidence = 8;

struct Execution {
  int64_t row = 0, ns = 0, ts_ns = 0;
  std::string graph;
  OptText hash, file, function;
  OptInt line;
};

Subject About(const Execution& e) {
  return {.file = e.file, .line = e.line, .function = e.function, .graph_hash = e.hash};
}

Evidence Cite(const Execution& e) {
  return {.table = "execution", .rows = {e.row}, .ts_ns = e.ts_ns, .dur_ns = e.ns};
}

Findings FromRows(std::map<std::string, std::vector<Execution>> graphs, int64_t total_ns) {
  Findings findings;
  for (auto& [graph, all] : graphs) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Execution& a, const Execution& b) { return a.ns > b.ns; });
    std::vector<int64_t> sorted;
    for (auto it = all.rbegin(); it != all.rend(); ++it) sorted.push_back(it->ns);
    const int64_t median = *NearestRank(sorted, 50);
    Finding slow{.subject = About(all.front()), .count = 0, .cost_ns = 0};
    SlowExecutionFigures figures{.longest_ns = all.front().ns, .threshold_ns = kTooSlowNs};
    if (all.front().ns > kTooSlowNs) {
      for (const Execution& e : all) {
        if (e.ns <= kTooSlowNs) break;
        ++*slow.count, *slow.cost_ns += e.ns;
        if (slow.evidence.size() < kMaxEvidence) slow.evidence.push_back(Cite(e));
      }
      slow.severity = Severity::kWarning;
      slow.reason = Reason{.type = ReasonType::kTooSlow};
      slow.figures = figures;
      findings.push_back(std::move(slow));
      continue;
    }
    if (int64_t(all.size()) < kMinExecutions) continue;
    for (const Execution& e : all) {
      if (double(e.ns) < kOutlierFactor * double(median)) break;
      ++*slow.count, *slow.cost_ns += e.ns - median;
      if (slow.evidence.size() < kMaxEvidence) slow.evidence.push_back(Cite(e));
    }
    if (*slow.count == 0 || double(*slow.cost_ns) < kOutlierShare * double(total_ns)) continue;
    slow.reason = Reason{.type = ReasonType::kOutliers};
    figures.found = SlowExecutions::kOutliers;
    figures.graph_executions = int64_t(all.size());
    figures.graph_median_ns = median;
    figures.outlier_factor = kOutlierFactor;
    slow.figures = figures;
    findings.push_back(std::move(slow));
  }
  return findings;
}

Findings FromMetrics(const Metrics& metrics) {
  const MetricState* execute = metrics.last ? metrics.last->Find("ExecuteTime") : nullptr;
  if (!execute || execute->percentiles.empty()) return {};
  const double longest = execute->percentiles.rbegin()->second;
  if (longest <= double(kTooSlowNs)) return {};
  int64_t part = 0;  // samples above the rule, from the percentiles
  for (const auto& [p, value] : execute->percentiles) {
    if (value > double(kTooSlowNs)) {
      part = std::max<int64_t>(1, Whole((100 - p) / 100 * double(execute->samples)));
      break;
    }
  }
  Finding finding{.severity = Severity::kWarning,
                  .count = part,
                  .reason = Reason{.type = ReasonType::kTooSlow}};
  finding.evidence = {{.table = "metric", .rows = {execute->id}, .text = "ExecuteTime"}};
  finding.figures = SlowExecutionFigures{.found = SlowExecutions::kTooLongSamples,
                                         .longest_ns = Whole(longest),
                                         .threshold_ns = kTooSlowNs};
  return {finding};
}

absl::StatusOr<Findings> FindSlowExecution(const Run& run) {
  std::map<std::string, std::vector<Execution>> graphs;
  int64_t total_ns = 0;
  XP_TRY(run.store().Each(
      "SELECT e.id, e.dur_ns, e.ts_ns, coalesce(g.hash, 'graph ' || e.graph_id, "
      "'unknown'), g.hash, s.file, s.function, s.line "
      "FROM execution e LEFT JOIN graph g ON g.id = e.graph_id LEFT JOIN site s ON s.id "
      "= e.site_id "
      "WHERE e.dur_ns IS NOT NULL AND e.ts_ns IS NOT NULL ORDER BY e.id",
      [&](int64_t id, int64_t ns, int64_t ts_ns, std::string graph, OptText hash, OptText file,
          OptText function, OptInt line) {
        // Of executions whose graph nobody knows, only single ones can be judged.
        if (graph == "unknown") graph = fmt::format("execution {}", id);
        graphs[graph].push_back({id, ns, ts_ns, graph, hash, file, function, line});
        total_ns += ns;
      }));
  if (!graphs.empty()) return FromRows(std::move(graphs), total_ns);
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  return FromMetrics(*metrics);
}

}  // namespace

extern const Analyzer slow_execution{
    .name = "slow_execution",
    .summary = "executions that take long, or much longer than usual",
    .meaning =
        "An execution takes very long, or much longer than other executions of the same "
        "graph.",
    .looks_at = "executions with times, else ExecuteTime",
    .find = FindSlowExecution,
    .say = SaySlowExecution,
    .needs = Needs::kTimelineOrExecuteTimes};

}  // namespace xlaprof
