// Finds steps that run as several small executions. Each execution pays for dispatch and a wait,
// and the compiler never sees a whole step.
#include "analyzers/graph_fragmentation.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/analyzer.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/jax_operation.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "analyzers/run/work_unit.h"
#include "base/metric_names.h"
#include "profiler/store/cut_kind.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxTypicalRows = 24;

int64_t MedianPieces(std::vector<int64_t> values) {
  std::nth_element(values.begin(), values.begin() + int64_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The executions of one step, in order.
struct PiecesOfStep {
  std::vector<int64_t> executions;
  int64_t forced = 0;  // executions that a read forced
  int64_t marks = 0;   // executions by step marks, of which the last one ends the step
};
using StepsOfProcess = std::map<int64_t, PiecesOfStep>;  // by step

// Returns whether no line of the program asked for the cut: the runtime cuts by itself, or it runs
// each operation at once.
bool IsOfRuntime(CutKind kind) {
  return kind == CutKind::kEagerOperation || kind == CutKind::kRepeatedOperations ||
         kind == CutKind::kAfterBackward || kind == CutKind::kCollective ||
         kind == CutKind::kBeforeCompiled;
}

// Returns the executions of each step by process, without those that the runtime decides and without
// calls of jitted and compiled functions, which are separate programs by intention. If a process has
// several devices, each runs its own copies, so only those of the device with most executions count.
absl::StatusOr<std::map<int64_t, StepsOfProcess>> PiecesByProcess(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::vector<const ExecutionRow*> in_order;
  for (const ExecutionRow& row : executions->rows) {
    if (row.step_id && row.cause && *row.cause != CutKind::kCall &&
        *row.cause != CutKind::kCompiledFunction && !IsOfRuntime(*row.cause))
      in_order.push_back(&row);
  }
  std::ranges::stable_sort(in_order, std::less<>(), &ExecutionRow::ordinal);
  std::map<int64_t, std::map<std::string, int64_t>> of_devices;
  for (const ExecutionRow* row : in_order) {
    if (row->device) ++of_devices[row->process_id.value_or(0)][*row->device];
  }
  const auto is_of_another_device = [&](const ExecutionRow& row) {
    if (!row.device) return false;
    const auto& counts = of_devices[row.process_id.value_or(0)];
    return std::ranges::max_element(counts, {}, &std::pair<const std::string, int64_t>::second)
               ->first != *row.device;
  };
  std::map<int64_t, StepsOfProcess> processes;
  for (const ExecutionRow* row : in_order) {
    if (is_of_another_device(*row)) continue;
    PiecesOfStep& step = processes[row->process_id.value_or(0)][*row->step_id];
    step.executions.push_back(row->id);
    step.forced += *row->cause == CutKind::kValueAccess;
    step.marks += EndsStep(*row->cause);
  }
  return processes;
}

// Returns the place at which most executions are started by step marks that do not end their step.
absl::StatusOr<Subject> WhereStepsAreMarkedInside(const Run& run, int64_t process_id) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  std::map<int64_t, const ExecutionRow*> last_of_step;
  std::vector<const ExecutionRow*> marks;
  for (const ExecutionRow& row : executions->rows) {
    if (row.process_id != process_id || !row.step_id || !row.cause || !EndsStep(*row.cause))
      continue;
    marks.push_back(&row);
    const ExecutionRow*& last = last_of_step[*row.step_id];
    if (last == nullptr || last->ordinal < row.ordinal) last = &row;
  }
  std::map<int64_t, int64_t> by_site;
  for (const ExecutionRow* row : marks) {
    if (row->site_id && last_of_step[*row->step_id] != row) ++by_site[*row->site_id];
  }
  return by_site.empty() ? Subject() : sites->MostFrequent(by_site);
}

// Returns the file and function in which most different lines read a value; if there are several,
// the one with the first file name.
absl::StatusOr<Subject> WhereValuesAreRead(const Run& run, int64_t process_id) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  std::map<std::pair<OptText, OptText>, std::set<int64_t>> lines;  // by file and function
  for (const ExecutionRow& row : executions->rows) {
    const SiteRow* site = sites->Find(row.site_id);
    if (row.process_id == process_id && row.cause == CutKind::kValueAccess && site != nullptr)
      lines[{site->file, site->function}].insert(site->id);
  }
  Subject subject;
  size_t most = 0;
  for (const auto& [place, ids] : lines) {
    if (ids.size() <= most) continue;
    most = ids.size();
    subject.file = place.first;
    subject.function = place.second;
  }
  return subject;
}

Finding FindingOf(const StepsOfProcess& steps, int64_t median_pieces) {
  Finding finding{.needs_fixing = double(median_pieces) >= policy::kManyPiecesPerStep,
                  .count = 0,
                  .per_step = double(median_pieces),
                  .reason = Reason{.type = ReasonType::kEarlyCuts}};
  int64_t forced = 0, inner_marks = 0;
  std::vector<int64_t> typical;  // the executions of the first step that has the median
  for (const auto& [id, step] : steps) {
    *finding.count += int64_t(step.executions.size());
    forced += step.forced;
    inner_marks += std::max<int64_t>(0, step.marks - 1);
    if (typical.empty() && int64_t(step.executions.size()) == median_pieces)
      typical = step.executions;
  }
  if (typical.size() > kMaxTypicalRows) typical.resize(kMaxTypicalRows);
  finding.evidence.push_back({.table = "execution", .rows = std::move(typical)});
  finding.figures =
      GraphFragmentationFigures(RecordedPiecesFigures{.pieces_per_step = median_pieces,
                                                      .steps = int64_t(steps.size()),
                                                      .forced = forced,
                                                      .inner_marks = inner_marks});
  return finding;
}

absl::StatusOr<Findings> FromExecutions(const Run& run) {
  XP_TRY(auto processes, PiecesByProcess(run));
  Findings findings;
  for (const auto& [process_id, steps] : processes) {
    if (int64_t(steps.size()) < policy::kStepsWithMedianPieces) continue;
    std::vector<int64_t> pieces;
    for (const auto& [id, step] : steps) pieces.push_back(int64_t(step.executions.size()));
    const int64_t median = MedianPieces(pieces);
    if (double(median) < policy::kPiecesPerStep) continue;
    findings.push_back(FindingOf(steps, median));
    const auto& figures = std::get<RecordedPiecesFigures>(
        std::any_cast<const GraphFragmentationFigures&>(findings.back().figures));
    XP_TRY(findings.back().subject, figures.inner_marks > figures.forced
                                        ? WhereStepsAreMarkedInside(run, process_id)
                                        : WhereValuesAreRead(run, process_id));
  }
  return findings;
}

// The executions of one process of a JAX program.
struct JaxExecutions {
  std::map<std::string, std::vector<const ExecutionRow*>> functions;   // by name of the program
  std::map<std::string, std::vector<const ExecutionRow*>> operations;  // by name of the operation
};

absl::StatusOr<std::map<int64_t, JaxExecutions>> JaxExecutionsByProcess(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  std::map<int64_t, JaxExecutions> processes;
  for (const ExecutionRow& row : executions->rows) {
    const GraphRow* graph = graphs->Find(row.graph_id);
    if (graph == nullptr || !graph->name || !graph->name->starts_with("jit_")) continue;
    JaxExecutions& process = processes[row.process_id.value_or(0)];
    const std::string operation = IsShortJaxOperation(*graph->name)
                                      ? graph->name->substr(std::string_view("jit_").size())
                                      : JaxOperationOf(*graph->name);
    // Names that begin with _ are JAX's own helpers.
    if (operation.empty() && graph->name->starts_with("jit__")) continue;
    if (operation.empty()) {
      process.functions[*graph->name].push_back(&row);
    } else if (!IsJaxLoop(*graph->name)) {
      process.operations[operation].push_back(&row);
    }
  }
  return processes;
}

// Returns the user's lines that call most of these operations, most executions first.
absl::StatusOr<std::vector<SourcePlace>> LinesOf(const Run& run,
                                                 const std::map<int64_t, int64_t>& by_graph) {
  constexpr size_t kMostGraphs = 32, kMostLines = 4;
  XP_TRY(const UserCode* code, run.Get<UserCode>());
  std::vector<std::pair<int64_t, int64_t>> graphs(by_graph.begin(), by_graph.end());
  std::ranges::stable_sort(graphs, std::greater(), [](const auto& one) { return one.second; });
  if (graphs.size() > kMostGraphs) graphs.resize(kMostGraphs);
  std::map<SourcePlace, int64_t> by_line;
  for (const auto& [graph_id, count] : graphs) {
    XP_TRY(const OptText text, LocationOfResult(run, graph_id));
    const SourcePlace place = code->Of(text.value_or(""));
    if (place.empty()) continue;
    // Functions of one line, such as lambdas, are one place.
    const auto known =
        std::ranges::find_if(by_line, [&](const auto& line) { return line.first.IsLineOf(place); });
    (known != by_line.end() ? known->second : by_line[place]) += count;
  }
  std::vector<std::pair<SourcePlace, int64_t>> lines(by_line.begin(), by_line.end());
  std::ranges::stable_sort(lines, std::greater(), [](const auto& one) { return one.second; });
  std::vector<SourcePlace> out;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) out.push_back(lines[i].first);
  return out;
}

// Finds the operations that one process runs outside of jit between executions of its main function.
absl::StatusOr<std::optional<Finding>> OperationsOutsideJit(const Run& run,
                                                            const JaxExecutions& process) {
  constexpr size_t kNamed = 3;
  const auto main = std::ranges::max_element(process.functions, {}, [](const auto& function) {
    int64_t ns = 0;
    for (const ExecutionRow* row : function.second) ns += row->dur_ns.value_or(0);
    return std::pair(ns, function.second.size());
  });
  if (main == process.functions.end()) return std::nullopt;
  const auto [first, last] =
      std::ranges::minmax(main->second, {}, [](const ExecutionRow* row) { return row->ordinal; });
  Finding finding{
      .needs_fixing = true, .count = 0, .reason = Reason{.type = ReasonType::kOutsideJit}};
  OperationsOutsideJitFigures figures{.function = main->first,
                                      .function_executions = int64_t(main->second.size())};
  Evidence evidence{.table = "execution"};
  std::map<int64_t, int64_t> by_graph;
  int64_t device_ns = 0;
  for (const auto& [operation, rows] : process.operations) {
    int64_t count = 0;
    for (const ExecutionRow* row : rows) {
      if (row->ordinal < first->ordinal || row->ordinal > last->ordinal) continue;
      ++count;
      device_ns += row->dur_ns.value_or(0);
      if (row->graph_id) ++by_graph[*row->graph_id];
      if (evidence.rows.size() < kMaxTypicalRows) evidence.rows.push_back(row->id);
    }
    *finding.count += count;
    if (count > 0) figures.most.emplace_back(operation, count);
  }
  figures.per_execution = double(*finding.count) / double(figures.function_executions);
  if (figures.function_executions < policy::kNotOnce ||
      figures.per_execution < policy::kOperationsPerFunction)
    return std::nullopt;
  std::ranges::stable_sort(figures.most, std::greater(), [](const auto& of) { return of.second; });
  figures.has_others = figures.most.size() > kNamed;
  if (figures.has_others) figures.most.resize(kNamed);
  if (device_ns > 0) finding.cost_ns = device_ns;
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  const double starts_ns = double(*finding.count) * double(policy::kStartOfExecutionNs);
  finding.needs_fixing = starts_ns >= policy::kStartsShare * double(times->longest().value_or(0));
  XP_TRY(figures.lines, LinesOf(run, by_graph));
  if (!figures.lines.empty()) finding.subject.SetPlace(figures.lines.front());
  finding.evidence.push_back(std::move(evidence));
  finding.figures = GraphFragmentationFigures(std::move(figures));
  return finding;
}

absl::Status FromJaxExecutions(const Run& run, Findings& findings) {
  XP_TRY(const auto processes, JaxExecutionsByProcess(run));
  for (const auto& [process_id, process] : processes) {
    XP_TRY(std::optional<Finding> finding, OperationsOutsideJit(run, process));
    if (finding) findings.push_back(*std::move(finding));
  }
  return absl::OkStatus();
}

// Finds small executions by the counters alone, which give the executions per step mark.
absl::StatusOr<Findings> FromMetrics(const Run& run) {
  XP_TRY(const MetricsReports* reports, run.Get<MetricsReports>());
  const MetricsReportRow* last = nullptr;
  for (const MetricsReportRow& report : reports->rows) {
    if (report.mark_step) last = &report;
  }
  if (last == nullptr) return Findings();
  XP_TRY(const MetricRows* metrics, run.Get<MetricRows>());
  const MetricRow* executed = nullptr;  // the metric that counted most executions
  for (const MetricRow& metric : metrics->rows) {
    if (metric.report_id != last->id || (metric.name != metric_names::kExecuteTime &&
                                         metric.name != metric_names::kExecuteReplicatedTime))
      continue;
    if (executed == nullptr || metric.samples > executed->samples) executed = &metric;
  }
  if (executed == nullptr || !executed->samples ||
      *last->mark_step < policy::kStepsWithMedianPieces)
    return Findings();
  const double pieces = double(*executed->samples) / double(*last->mark_step);
  if (pieces < policy::kPiecesPerStep) return Findings();
  Finding finding{.needs_fixing = pieces >= policy::kManyPiecesPerStep,
                  .count = executed->samples,
                  .per_step = pieces,
                  .reason = Reason{.type = ReasonType::kEarlyCuts},
                  .evidence = {{.table = "metric"}}};
  finding.figures = GraphFragmentationFigures(
      CountedPiecesFigures{.metric = executed->name, .step_marks = *last->mark_step});
  return Findings{std::move(finding)};
}

}  // namespace

static absl::StatusOr<Findings> FindGraphFragmentation(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  const bool knows_steps = std::ranges::any_of(
      executions->rows, [](const ExecutionRow& row) { return row.step_id.has_value(); });
  XP_TRY(Findings findings, knows_steps ? FromExecutions(run) : FromMetrics(run));
  XP_TRY(FromJaxExecutions(run, findings));
  return findings;
}

extern const Analyzer graph_fragmentation{
    .name = "graph_fragmentation",
    .summary = "steps that run as several small executions",
    .meaning =
        "One step runs as several small programs. Each of them is dispatched and waited for, and the compiler cannot optimise across their borders.",
    .looks_at =
        "executions and the steps they are in, executions of single JAX operations, or ExecuteTime and MarkStep",
    .find = FindGraphFragmentation,
    .say = SayGraphFragmentation,
    .needs = Needs::kReads,
    .thresholds = {policy::kPiecesPerStep, policy::kManyPiecesPerStep,
                   policy::kStepsWithMedianPieces, policy::kOperationsPerFunction,
                   policy::kStartOfExecutionNs, policy::kStartsShare}};
}  // namespace xlaprof
