// Finds loops without a step mark. The graph grows with every step, until a read evaluates all of
// it.
#include "analyzers/missing_step_mark.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzers/analyzer.h"
#include "analyzers/run/metric_counts.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/unmarked_reads.h"
#include "analyzers/run/user_code.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

// Returns the time that the executions spent on running nodes of earlier steps again. It is a share
// of each execution, by the number of nodes. Returns nothing if an execution's time or a graph's
// size is unknown.
OptInt TimeOfRepeatedNodes(const std::vector<UnmarkedRead>& reads) {
  double again_ns = 0;
  for (const UnmarkedRead& read : reads) {
    if (!read.nodes || !read.dur_ns || *read.nodes <= 0) return {};
    const double old = double(*read.nodes - *reads.front().nodes) / double(*read.nodes);
    again_ns += std::max(old, 0.0) * double(*read.dur_ns);
  }
  return Whole(again_ns);
}

// Returns the time of compiling the graphs that the reads evaluated, except for the first, which any
// program compiles. A step mark would make these graphs alike. If `site` is set, only its reads count.
absl::StatusOr<OptInt> TimeOfNewGraphs(const Run& run, int64_t process, OptInt site = {}) {
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  OptInt ns;
  bool is_first = true;
  std::vector<const CompileRow*> in_order;
  for (const CompileRow& row : compiles->rows) {
    if (row.process_id == process && row.cause == CutKind::kValueAccess &&
        (!site || row.site_id == site))
      in_order.push_back(&row);
  }
  std::ranges::stable_sort(in_order, std::less<>(), &CompileRow::ordinal);
  for (const CompileRow* row : in_order) {
    if (!std::exchange(is_first, false) && (row->dur_ns || row->trace_ns))
      ns = ns.value_or(0) + row->dur_ns.value_or(0) + row->trace_ns.value_or(0);
  }
  return ns;
}

// The line with most of the reads, the first of several. If no source names lines, the value that
// most of them read.
struct UsualSite {
  OptInt id;
  int64_t reads = 0;
};
UsualSite FindUsualSite(const std::vector<UnmarkedRead>& reads) {
  std::map<int64_t, int64_t> count;
  std::map<std::string, int64_t> of_value;
  UsualSite usual;
  for (const UnmarkedRead& read : reads) {
    if (read.site_id) ++count[*read.site_id];
    if (!read.value.empty()) usual.reads = std::max(usual.reads, ++of_value[read.value]);
  }
  if (!count.empty()) usual.reads = 0;
  for (const UnmarkedRead& read : reads)
    if (read.site_id && count[*read.site_id] > usual.reads)
      usual = {read.site_id, count[*read.site_id]};
  return usual;
}

// Returns whether the reads belong to more than one step. Several reads in one step grow the same
// way.
absl::StatusOr<bool> Repeats(const Run& run, int64_t process, const UsualSite& usual,
                             size_t reads) {
  if (usual.reads > 1 || int64_t(reads) >= policy::kReadsOfSeveralSteps) return true;
  XP_TRY(const StepCounts* steps, run.Get<StepCounts>());
  return steps->Of(process) > 1;
}

// The inputs of the first and the last graph at one line.
struct GrowingInputs {
  int64_t first = 0, last = 0;
};

// Returns the inputs at the line with most of the reads if these show growth without nodes: the program
// records many operations and marks no step, most of these reads evaluate a new graph, and none has fewer
// inputs than the one before.
absl::StatusOr<std::optional<GrowingInputs>> FindGrowingInputs(const Run& run,
                                                               const UnmarkedReads& unmarked,
                                                               const UsualSite& usual) {
  XP_TRY(const LastTracing* last, run.Get<LastTracing>());
  if (!last->shows_counters || last->step_marks.value_or(0) > 0 ||
      last->traced_operations.value_or(0) < policy::kTracedOperationsOfLoop || !usual.id ||
      usual.reads < policy::kReadsThatShowGrowth || unmarked.first_nodes() || unmarked.last_nodes())
    return std::nullopt;
  std::set<std::string> graphs;
  std::optional<GrowingInputs> inputs;
  for (const UnmarkedRead& read : unmarked.reads) {
    if (read.site_id != usual.id) continue;
    if (!read.inputs || read.graph.empty() || (inputs && *read.inputs < inputs->last))
      return std::nullopt;
    graphs.insert(read.graph);
    if (!inputs) inputs = GrowingInputs{.first = *read.inputs};
    inputs->last = *read.inputs;
  }
  const bool are_new = 2 * int64_t(graphs.size()) > usual.reads;
  return are_new && inputs->last > inputs->first ? inputs : std::nullopt;
}

UnmarkedExecutionsFigures::Growth GrowthOf(const UnmarkedReads& unmarked,
                                           const std::optional<GrowingInputs>& inputs) {
  using Growth = UnmarkedExecutionsFigures::Growth;
  if (unmarked.grow()) return Growth::kGrows;
  if (inputs) return Growth::kInputsGrow;
  return unmarked.first_nodes() && unmarked.last_nodes() ? Growth::kNone : Growth::kUnknown;
}

// Returns the loop that is unrolled into the last graph, if most reads evaluate a new graph.
absl::StatusOr<std::optional<UnrolledLoop>> LoopInside(const Run& run,
                                                       const std::vector<UnmarkedRead>& reads) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const UserCode* code, run.Get<UserCode>());
  std::set<int64_t> ids;
  for (const UnmarkedRead& read : reads) ids.insert(read.id);
  std::set<std::string> different;
  OptInt last;
  for (const ExecutionRow& row : executions->rows) {
    if (!row.graph_id || !ids.contains(row.id)) continue;
    different.insert(graphs->IdentityOf(row.graph_id).value_or(""));
    last = row.graph_id;
  }
  if (!last || 2 * different.size() <= reads.size()) return std::nullopt;
  for (const GraphRow* form : graphs->FormsOf(last)) {
    if (form->node_count.value_or(0) == 0) continue;
    XP_TRY(const PrintedGraph graph, LoadGraph(run.store(), form->id));
    std::optional<UnrolledLoop> loop = FindUnrolledLoop(
        graph, [&](std::string_view location) { return !code->Of(location).empty(); },
        policy::kRoundsInGraph);
    if (loop) return loop;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<Finding>> FromExecutions(const Run& run, int64_t process) {
  XP_TRY(const UnmarkedReads* unmarked, run.Get<UnmarkedReads>(process));
  if (unmarked->reads.empty()) return std::nullopt;
  const std::vector<UnmarkedRead>& reads = unmarked->reads;
  const UsualSite usual = FindUsualSite(reads);
  XP_TRY(const bool repeats, Repeats(run, process, usual, reads.size()));
  std::optional<UnrolledLoop> loop;
  if (!unmarked->grow()) {
    XP_TRY(loop, LoopInside(run, reads));
  }
  XP_TRY(const std::optional<GrowingInputs> inputs, FindGrowingInputs(run, *unmarked, usual));
  const bool recurs = (unmarked->grow() || loop || inputs) && repeats;
  Finding finding;
  finding.needs_fixing = recurs;
  finding.count = int64_t(reads.size());
  UnmarkedExecutionsFigures figures{.growth = GrowthOf(*unmarked, inputs),
                                    .first_nodes = unmarked->first_nodes(),
                                    .last_nodes = unmarked->last_nodes(),
                                    .repeats = repeats,
                                    .loop = std::move(loop)};
  if (inputs) figures.first_inputs = inputs->first, figures.last_inputs = inputs->last;
  if (recurs) {
    figures.again_ns = TimeOfRepeatedNodes(reads);
    XP_TRY(figures.compile_ns, TimeOfNewGraphs(run, process, inputs ? usual.id : OptInt()));
    if (figures.again_ns || figures.compile_ns)
      finding.cost_ns = figures.again_ns.value_or(0) + figures.compile_ns.value_or(0);
    finding.compiling_ns = figures.compile_ns.value_or(0);
    // With step marks, rounds of other sizes may still compile graphs of their own.
    if (!inputs) finding.saving_ns = finding.cost_ns;
    finding.certainty = Certainty::kInferred;
  }
  finding.reason = Reason{.type = ReasonType::kNoStepMark};
  finding.figures = MissingStepMarkFigures(figures);
  XP_TRY(const Sites* sites, run.Get<Sites>());
  finding.subject = sites->SubjectOf(usual.id);
  finding.evidence.push_back({.table = "execution", .rows = {reads.front().id, reads.back().id}});
  return finding;
}

// Returns a finding if the last metrics report of a lazy program counts no step mark. A report that
// was cut before its last counters does not show whether there are step marks.
std::optional<Finding> FromMetrics(const LastTracing& last) {
  if (!last.shows_counters || last.step_marks.value_or(0) > 0 ||
      last.traced_operations.value_or(0) < policy::kTracedOperationsOfLoop)
    return {};
  Finding finding{.needs_fixing = true,
                  .count = last.executions,
                  .reason = Reason{.type = ReasonType::kNoStepMark},
                  .evidence = {{.table = "metric"}}};
  finding.figures = MissingStepMarkFigures(
      UnmarkedOperationsFigures{.traced_operations = *last.traced_operations});
  return finding;
}

absl::StatusOr<Findings> FindMissingStepMarks(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::set<int64_t> processes;
  for (const ExecutionRow& row : executions->rows) {
    if (row.process_id) processes.insert(*row.process_id);
  }
  Findings findings;
  for (int64_t process : processes) {
    XP_TRY(std::optional<Finding> finding, FromExecutions(run, process));
    if (finding) findings.push_back(std::move(*finding));
  }
  if (!processes.empty()) return findings;
  XP_TRY(const LastTracing* last, run.Get<LastTracing>());
  if (std::optional<Finding> finding = FromMetrics(*last)) findings.push_back(std::move(*finding));
  return findings;
}

}  // namespace

extern const Analyzer missing_step_mark{
    .name = "missing_step_mark",
    .summary = "loops whose graph is never cut and grows",
    .meaning =
        "The loop never ends a step, so the graph grows with each pass until a read evaluates all of it. Each read then compiles and runs a larger program than the last.",
    .looks_at = "executions and their causes, graph sizes, MarkStep",
    .find = FindMissingStepMarks,
    .say = SayMissingStepMark,
    .needs = Needs::kReads,
    .thresholds = {policy::kReadsThatShowGrowth, policy::kGraphGrowth, policy::kReadsOfSeveralSteps,
                   policy::kTracedOperationsOfLoop}};
}  // namespace xlaprof
