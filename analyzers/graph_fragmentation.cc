// A step that runs as several small executions: each pays dispatch and a wait, and the compiler
// sees no whole step.
#include "analyzers/graph_fragmentation.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/step_count.h"

namespace xlaprof {
namespace {

// One or two early cuts a step are told by their own findings (sync_point, fallback); from the
// fourth piece on the pieces themselves are the pattern. Three pieces are mentioned.
constexpr double kPiecesWarn = 4.0;
constexpr double kPiecesInfo = 3.0;
constexpr int64_t kFewSteps = 3;  // with fewer, warm-up decides the median
constexpr size_t kEvidenceRows = 24;

int64_t Median(std::vector<int64_t> values) {
  std::nth_element(values.begin(), values.begin() + int64_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

absl::StatusOr<Findings> FromExecutions(const Run& run) {
  struct Step {
    std::vector<int64_t> executions;
    int64_t early = 0;
  };
  std::map<int64_t, std::map<int64_t, Step>> processes;
  // Calls of jitted functions (JAX) are programs by intention, and each device runs its own copy:
  // both are no pieces.
  XP_TRY(run.store().Each(
      "SELECT process_id, step_id, id, cause = 'value_access' FROM execution WHERE "
      "step_id IS NOT NULL AND cause IS NOT NULL "
      "AND cause NOT IN ('call') ORDER BY process_id, ordinal",
      [&](std::optional<int64_t> process, int64_t step, int64_t id, bool early) {
        Step& s = processes[process.value_or(0)][step];
        s.executions.push_back(id);
        s.early += early;
      }));
  Findings findings;
  for (const auto& [process, steps] : processes) {
    if (int64_t(steps.size()) < kFewSteps) continue;
    std::vector<int64_t> pieces;
    int64_t executions = 0, early = 0;
    std::vector<int64_t> rows;
    for (const auto& [id, step] : steps) {
      pieces.push_back(int64_t(step.executions.size()));
      executions += int64_t(step.executions.size());
      early += step.early;
    }
    int64_t median = Median(pieces);
    if (double(median) < kPiecesInfo) continue;
    for (const auto& [id, step] : steps) {
      if (int64_t(step.executions.size()) != median) continue;
      rows = step.executions;  // one typical step
      break;
    }
    if (rows.size() > kEvidenceRows) rows.resize(kEvidenceRows);
    Finding finding;
    finding.severity = double(median) >= kPiecesWarn ? Severity::kWarning : Severity::kInfo;
    finding.count = executions;
    finding.per_step = double(median);
    finding.reason = Reason{.type = ReasonType::kEarlyCuts};
    finding.evidence.push_back({.table = "execution", .rows = std::move(rows)});
    finding.figures = GraphFragmentationFigures(RecordedPiecesFigures{
        .pieces_per_step = median, .steps = int64_t(steps.size()), .forced = early});
    XP_TRY(run.store().Each(
        "SELECT s.file, s.function, count(DISTINCT s.id) FROM execution e JOIN site s ON s.id = "
        "e.site_id WHERE e.process_id = ?1 AND "
        "e.cause = 'value_access' GROUP BY s.file, s.function ORDER BY 3 DESC, 1 LIMIT 1",
        [&](OptText file, OptText function, int64_t) {
          finding.subject.file = std::move(file);
          finding.subject.function = std::move(function);
        },
        process));
    findings.push_back(std::move(finding));
  }
  return findings;
}

// From the counters alone: executions for each step mark.
absl::StatusOr<Findings> FromMetrics(const Run& run) {
  Findings findings;
  XP_TRY(run.store().Each(
      "SELECT m.name, m.samples, r.mark_step FROM metric m JOIN metrics_report r ON r.id = "
      "m.report_id "
      "WHERE m.name IN ('ExecuteTime', 'ExecuteReplicatedTime') AND r.id = (SELECT max(id) FROM "
      "metrics_report WHERE mark_step IS NOT NULL) "
      "ORDER BY m.samples DESC LIMIT 1",
      [&](std::string name, OptInt samples, OptInt steps) {
        if (!samples || !steps || *steps < kFewSteps) return;
        double pieces = double(*samples) / double(*steps);
        if (pieces < kPiecesInfo) return;
        Finding finding;
        finding.severity = pieces >= kPiecesWarn ? Severity::kWarning : Severity::kInfo;
        finding.count = samples;
        finding.per_step = pieces;
        finding.reason = Reason{.type = ReasonType::kEarlyCuts};
        finding.evidence.push_back({.table = "metric"});
        finding.figures = GraphFragmentationFigures(
            CountedPiecesFigures{.metric = std::move(name), .step_marks = *steps});
        findings.push_back(std::move(finding));
      }));
  return findings;
}

}  // namespace

static absl::StatusOr<Findings> FindGraphFragmentation(const Run& run) {
  XP_TRY(auto executions,
         run.store().One<int64_t>("SELECT count(*) FROM execution WHERE step_id IS NOT NULL"));
  return executions.value_or(0) > 0 ? FromExecutions(run) : FromMetrics(run);
}

extern const Analyzer graph_fragmentation{
    .name = "graph_fragmentation",
    .summary = "steps that run as several small executions",
    .meaning =
        "One step runs as several small programs. Each of them is dispatched and waited "
        "for, and the compiler cannot optimise across their borders.",
    .looks_at = "executions and the steps they are in, or ExecuteTime and MarkStep",
    .find = FindGraphFragmentation,
    .say = SayGraphFragmentation};
}  // namespace xlaprof
