// A loop without a step mark: the graph grows with every step, until a read evaluates all of it.
#include "analyzers/missing_step_mark.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/unmarked_reads.h"
#include "core/base/whole.h"

namespace xlaprof {
namespace {

constexpr int64_t kManyTracedOps =
    1000;  // traced calls without any step mark: more than set-up code makes

// The part of the executions that ran nodes of earlier steps again, by their number; empty where an
// execution's time or a graph's size is unknown.
OptInt RunAgain(const std::vector<UnmarkedRead>& reads) {
  double again_ns = 0;
  for (const UnmarkedRead& read : reads) {
    if (!read.nodes || !read.dur_ns || *read.nodes <= 0) return {};
    const double old = double(*read.nodes - *reads.front().nodes) / double(*read.nodes);
    again_ns += std::max(old, 0.0) * double(*read.dur_ns);
  }
  return Whole(again_ns);
}

// Where most of the reads are; the first of several.
struct UsualSite {
  OptInt id;
  int64_t reads = 0;
};
UsualSite FindUsualSite(const std::vector<UnmarkedRead>& reads) {
  std::map<int64_t, int64_t> count;
  for (const UnmarkedRead& read : reads)
    if (read.site_id) ++count[*read.site_id];
  UsualSite usual;
  for (const UnmarkedRead& read : reads)
    if (read.site_id && count[*read.site_id] > usual.reads)
      usual = {read.site_id, count[*read.site_id]};
  return usual;
}

// Whether the reads are of more than one step: several of one step's own grow alike.
absl::StatusOr<bool> Repeats(const Run& run, int64_t process, const UsualSite& usual,
                             size_t reads) {
  constexpr size_t kManyReads = 6;
  if (usual.reads > 1 || reads >= kManyReads) return true;
  XP_TRY(auto steps,
         run.store().One<int64_t>("SELECT count(*) FROM step WHERE process_id = ?1", process));
  return steps.value_or(0) > 1;
}

UnmarkedExecutionsFigures::Growth GrowthOf(const UnmarkedReads& unmarked) {
  using Growth = UnmarkedExecutionsFigures::Growth;
  if (unmarked.grow()) return Growth::kGrows;
  return unmarked.first_nodes() && unmarked.last_nodes() ? Growth::kNone : Growth::kUnknown;
}

absl::StatusOr<std::optional<Finding>> FromExecutions(const Run& run, int64_t process) {
  XP_TRY(const UnmarkedReads* unmarked, run.Get<UnmarkedReads>(process));
  if (unmarked->reads.empty()) return std::nullopt;
  const std::vector<UnmarkedRead>& reads = unmarked->reads;
  const UsualSite usual = FindUsualSite(reads);
  XP_TRY(const bool repeats, Repeats(run, process, usual, reads.size()));
  const bool recurs = unmarked->grow() && repeats;
  Finding finding;
  finding.severity = recurs ? Severity::kWarning : Severity::kInfo;
  finding.count = int64_t(reads.size());
  if (recurs) finding.cost_ns = RunAgain(reads);
  finding.reason = Reason{.type = ReasonType::kNoStepMark};
  finding.figures =
      MissingStepMarkFigures(UnmarkedExecutionsFigures{.growth = GrowthOf(*unmarked),
                                                       .first_nodes = unmarked->first_nodes(),
                                                       .last_nodes = unmarked->last_nodes(),
                                                       .repeats = repeats});
  if (usual.id) {
    XP_TRY(run.store().Each(
        "SELECT function, file, line FROM site WHERE id = ?1",
        [&](OptText function, OptText file, OptInt line) {
          finding.subject = {
              .file = std::move(file), .line = line, .function = std::move(function)};
        },
        *usual.id));
  }
  finding.evidence.push_back({.table = "execution", .rows = {reads.front().id, reads.back().id}});
  return finding;
}

absl::StatusOr<std::optional<Finding>> FromMetrics(const Run& run) {
  std::optional<Finding> out;
  // A report that was cut before its last counters says nothing of MarkStep. The client's other
  // counters stand beside it.
  XP_TRY(auto beside,
         run.store().One<int64_t>(
             "SELECT count(*) FROM counter WHERE name IN ('CreateCompileHandles', "
             "'CreateDataHandles', 'ReleaseDataHandles') "
             "AND report_id = (SELECT max(report_id) FROM metric WHERE name = 'LazyTracing')"));
  const bool shows_marks = beside.value_or(0) > 0;
  XP_TRY(run.store().Each(
      "SELECT r.mark_step, m.samples, (SELECT max(samples) FROM metric e WHERE e.report_id = r.id "
      "AND e.name = 'ExecuteTime') FROM metrics_report r "
      "JOIN metric m ON m.report_id = r.id AND m.name = 'LazyTracing' "
      // Eager mode cuts at each operation: no mark is missing.
      "WHERE NOT EXISTS (SELECT 1 FROM metric e WHERE e.report_id = r.id AND e.name = "
      "'EagerOpExecuteTime' AND e.samples > 0) ORDER BY r.id DESC LIMIT 1",
      [&](OptInt marks, OptInt traced, OptInt executed) {
        if (marks.value_or(0) > 0 || traced.value_or(0) < kManyTracedOps || !shows_marks) return;
        Finding finding{.severity = Severity::kWarning};
        finding.count = executed;
        finding.reason = Reason{.type = ReasonType::kNoStepMark};
        finding.evidence.push_back({.table = "metric"});
        finding.figures =
            MissingStepMarkFigures(UnmarkedOperationsFigures{.traced_operations = *traced});
        out = std::move(finding);
      }));
  return out;
}

}  // namespace

static absl::StatusOr<Findings> FindMissingStepMark(const Run& run) {
  Findings findings;
  XP_TRY(auto processes,
         run.store().Collect(
             "SELECT DISTINCT process_id FROM execution WHERE process_id IS NOT NULL ORDER BY 1",
             [](int64_t id) { return id; }));
  for (int64_t process : processes) {
    XP_TRY(std::optional<Finding> finding, FromExecutions(run, process));
    if (finding) findings.push_back(std::move(*finding));
  }
  if (processes.empty()) {
    XP_TRY(std::optional<Finding> finding, FromMetrics(run));
    if (finding) findings.push_back(std::move(*finding));
  }
  return findings;
}

extern const Analyzer missing_step_mark{
    .name = "missing_step_mark",
    .summary = "loops whose graph is never cut and grows",
    .meaning =
        "The loop never ends a step, so the graph grows with each pass until a read "
        "evaluates all of it. Each read then compiles and runs a larger program than the "
        "last.",
    .looks_at = "executions and their causes, graph sizes, MarkStep",
    .find = FindMissingStepMark,
    .say = SayMissingStepMark};
}  // namespace xlaprof
