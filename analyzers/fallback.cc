// Finds ops that the backend has no lowering for. Their inputs are fetched, the op runs on the CPU,
// and its result is sent back.
#include "analyzers/fallback.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/analyzer.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/early_cuts.h"
#include "analyzers/run/metric_counts.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxExecutionRows = 24;
constexpr size_t kMaxSites = 4;  // call sites that the words name

// Time and number of the transfers at lines that call one op without lowering and fetch nothing
// else.
struct TransfersOfOp {
  int64_t dur_ns = 0, count = 0;
};
absl::StatusOr<std::map<std::string, TransfersOfOp>> TransfersByOp(const Run& run) {
  XP_TRY(const Fallbacks* fallbacks, run.Get<Fallbacks>());
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  std::map<std::pair<int64_t, int64_t>, std::set<std::string>> ops_at;  // by process and site
  for (const FallbackRow& row : fallbacks->rows) {
    if (row.process_id && row.site_id && row.op)
      ops_at[{*row.process_id, *row.site_id}].insert(*row.op);
  }
  std::map<std::string, TransfersOfOp> by_op;
  for (const TransferRow& row : transfers->rows) {
    if (!row.process_id || !row.site_id || !row.dur_ns) continue;
    const auto ops = ops_at.find({*row.process_id, *row.site_id});
    if (ops == ops_at.end() || ops->second.size() != 1) continue;
    TransfersOfOp& of_op = by_op[*ops->second.begin()];
    of_op.dur_ns += *row.dur_ns;
    ++of_op.count;
  }
  return by_op;
}

// Returns whether the finding is a pattern. torch_xla names an uncounted op at every step, so such
// an op is a pattern unless a count shows otherwise.
bool IsPattern(const Finding& finding) {
  return !finding.count || IsOften(*finding.count, finding.per_step);
}

using OpCuts = std::vector<const EarlyCut*>;  // the cuts of one op, most frequent first

FallbackOpFigures FiguresOf(const FallbackOp& op, const EarlyCuts& cuts, const OpCuts& of_op) {
  FallbackOpFigures figures{.is_printed = op.printed};
  if (of_op.empty()) {
    for (int index : op.candidates) figures.candidates.push_back(cuts.cuts[size_t(index)].subject);
    figures.more_candidates = op.candidate_count - int64_t(op.candidates.size());
  } else {
    figures.cut = {.shape = of_op.front()->shape, .is_likely = of_op.front()->likely};
  }
  for (const EarlyCut* cut : of_op) {
    figures.cut->executions += int64_t(cut->executions.size());
    figures.cut->count += cut->count;
  }
  std::vector<Subject> sites = op.sites;
  if (sites.empty() && of_op.size() > 1)
    for (const EarlyCut* cut : of_op) sites.push_back(cut->subject);
  for (size_t i = 0; i < std::min(sites.size(), kMaxSites); ++i)
    figures.call_sites.push_back(sites[i].place());
  return figures;
}

// Sets the cost of the op from the measured waits for its cuts.
void SetCostOfCuts(const OpCuts& cuts, FallbackOpFigures& figures, Finding& finding) {
  for (const EarlyCut* cut : cuts) {
    const OptInt cost_ns = cut->cost_ns();
    if (!cost_ns) continue;
    finding.cost_ns = finding.cost_ns.value_or(0) + *cost_ns;
    figures.measured += cut->waits.count;
    if (cut->estimated_wait_ns) finding.certainty = Certainty::kInferred;
  }
  figures.cost = finding.certainty == Certainty::kInferred
                     ? FallbackOpFigures::Cost::kEstimatedWaits
                     : FallbackOpFigures::Cost::kWaits;
}

// Sets the cost of the op, if the waits of its cuts or its transfers were measured. The sums of
// metrics are divided by the calls of each op.
void SetCost(const OpCuts& cuts, const TransfersOfOp& transfers, const FallbackCopies& copies,
             FallbackOpFigures& figures, Finding& finding) {
  if (std::ranges::any_of(cuts, [](const EarlyCut* cut) { return cut->waits.count > 0; })) {
    SetCostOfCuts(cuts, figures, finding);
  } else if (transfers.count > 0) {
    figures.cost = FallbackOpFigures::Cost::kTransfers;
    figures.measured = transfers.count;
    finding.cost_ns = transfers.dur_ns;
  } else if (copies.copy_ns() > 0 && finding.count) {
    figures.cost = FallbackOpFigures::Cost::kShareOfMetrics;
    figures.measured = copies.copies();
    figures.measured_ns = copies.copy_ns();
    figures.copied_calls = copies.calls;
    figures.has_reads = copies.has_reads;
    finding.cost_ns =
        Whole(double(copies.copy_ns()) * double(*finding.count) / double(copies.calls));
  }
}

Finding FromOp(const FallbackOp& op, const EarlyCuts& cuts, const TransfersOfOp& transfers,
               const FallbackCopies& copies, OptInt steps, bool has_log) {
  Finding finding;
  OpCuts of_op;
  for (const int index : op.cuts) of_op.push_back(&cuts.cuts[size_t(index)]);
  const EarlyCut* cut = of_op.empty() ? nullptr : of_op.front();
  if (cut != nullptr) finding.subject = cut->subject;
  if (cut == nullptr && !op.sites.empty()) finding.subject = op.sites.front();
  finding.subject.op = op.op;
  finding.count = op.count;
  FallbackOpFigures figures = FiguresOf(op, cuts, of_op);
  figures.has_log = has_log;
  if (!op.count && figures.cut) finding.count = figures.cut->executions;
  if (finding.count)
    finding.per_step = PerStep(*finding.count, cut != nullptr ? cut->steps : steps);
  finding.needs_fixing = IsPattern(finding);
  finding.reason = Reason{.type = ReasonType::kNoLowering, .node = op.op};
  if (cut != nullptr) {
    std::vector<int64_t> rows;
    for (const EarlyCut* of : of_op)
      rows.insert(rows.end(), of->executions.begin(), of->executions.end());
    std::ranges::sort(rows);
    rows.resize(std::min(rows.size(), kMaxExecutionRows));
    finding.evidence.push_back({.table = "execution", .rows = std::move(rows)});
  }
  finding.evidence.push_back({.table = "fallback"});
  SetCost(of_op, transfers, copies, figures, finding);
  if (finding.needs_fixing) finding.saving_ns = finding.cost_ns;
  finding.figures = FallbackFigures(std::move(figures));
  return finding;
}

// Returns whether a log was read that has the lines of executions, as that of PT_XLA_DEBUG_LEVEL=2.
absl::StatusOr<bool> HasLogOfExecutions(const Run& run) {
  XP_TRY(const Contents* contents, run.Get<Contents>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  return contents->source_kinds.contains(SourceKind::kLog) &&
         std::ranges::any_of(executions->rows,
                             [](const ExecutionRow& row) { return row.site_id.has_value(); });
}

// Makes the finding about a line whose ops are not named. Each of its calls waits for the device.
Finding FromUnnamed(const UnnamedCalls& calls, const EarlyCuts& cuts, OptInt steps) {
  Finding finding{.subject = calls.subject, .count = calls.count};
  finding.per_step = PerStep(calls.count, steps);
  finding.needs_fixing = IsPattern(finding);
  finding.reason = Reason{.type = ReasonType::kNoLowering};
  finding.evidence.push_back({.table = "fallback"});
  UnnamedCallsFigures figures{.may_be_read = cuts.scalar_reads && cuts.scalar_read_sites.empty(),
                              .is_printed = calls.printed};
  for (const FallbackOp& op : cuts.ops) {
    if (op.sites.empty() && op.cuts.empty()) figures.possible_ops.push_back(op.op);
  }
  finding.figures = FallbackFigures(std::move(figures));
  return finding;
}

// Finds a program that printed that it runs on the CPU.
absl::Status FindProgramOnCpu(const Run& run, Findings& findings) {
  XP_TRY(const Contents* contents, run.Get<Contents>());
  if (!contents->runs_on_cpu) return absl::OkStatus();
  const Contents::Notice& notice = *contents->runs_on_cpu;
  Finding finding{.needs_fixing = true,
                  .count = notice.count,
                  .reason = Reason{.type = ReasonType::kNoDevice},
                  .evidence = {{.table = "import_issue"}}};
  finding.figures = FallbackFigures(WholeProgramFigures{
      .printed_at = {.file = notice.path, .line = notice.line, .function = ""}});
  findings.push_back(std::move(finding));
  return absl::OkStatus();
}

}  // namespace

static absl::StatusOr<Findings> FindFallbacks(const Run& run) {
  XP_TRY(const EarlyCuts* cuts, run.Get<EarlyCuts>());
  XP_TRY(const StepCounts* counts, run.Get<StepCounts>());
  XP_TRY(auto transfers, TransfersByOp(run));
  XP_TRY(const FallbackCopies* copies, run.Get<FallbackCopies>());
  Findings findings;
  XP_TRY(const bool has_log, HasLogOfExecutions(run));
  for (const FallbackOp& op : cuts->ops)
    findings.push_back(FromOp(op, *cuts, transfers[op.op], *copies, counts->all, has_log));
  for (const UnnamedCalls& calls : cuts->unnamed)
    findings.push_back(FromUnnamed(calls, *cuts, counts->all));
  XP_TRY(FindProgramOnCpu(run, findings));
  return findings;
}

std::string ForwardOpOf(std::string_view op) {
  constexpr std::string_view kBackward = "_backward";
  op = op.substr(0, op.find('.'));
  if (!op.ends_with(kBackward)) return "";
  return std::string(op.substr(0, op.size() - kBackward.size()));
}

extern const Analyzer fallback{
    .name = "fallback",
    .summary = "ops without lowering that run on the CPU, with the transfers and waits they cause",
    .meaning =
        "The backend has no lowering for an op, so the op runs on the CPU. Its inputs are fetched from the device and its result is sent back, and the graph is cut in two at this place.",
    .looks_at =
        "aten:: counters, torch_xla's profiler lines and exit summary, executions before a step mark",
    .find = FindFallbacks,
    .say = SayFallback,
    .needs = Needs::kReads,
    .thresholds = {policy::kOftenPerStep, policy::kNotOnce, policy::kOftenWithoutSteps,
                   policy::kLeastShareOfCalls}};
}  // namespace xlaprof
