// Finds reads of values before the step mark: .item(), print, `if tensor`, .cpu(). Each read stops
// the host until the device has computed the value. The work for it is done again at the step mark.
#include "analyzers/sync_point.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/device_ops.h"
#include "analyzers/run/device_reads.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/early_cuts.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/metric_counts.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "analyzers/run/work_unit.h"
#include "base/metric_names.h"
#include "base/whole.h"
#include "profiler/store/cut_kind.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxReadRows = 24;  // ids quoted in the evidence of a finding

// Returns whether reads that cost `cost_ns` in a run of `run_ns` are worth a change, as far as these
// are known. Reads that are not known to be in every step are so only if their cost can be noticed.
bool NeedFixing(int64_t count, std::optional<double> per_step, OptInt cost_ns, OptInt run_ns) {
  if (!IsOften(count, per_step)) return false;
  const bool is_cheap = cost_ns && run_ns && !IsInEveryStep(per_step) &&
                        double(*cost_ns) < policy::kReadShareOfStep * double(*run_ns);
  return !is_cheap;
}

// Returns the cost of all executions of a cut, even if only one was measured.
OptInt CostOfAll(const EarlyCut& cut) {
  const OptInt cost_ns = cut.cost_ns();
  if (!cost_ns || cut.estimated_wait_ns) return cost_ns;
  return Whole(double(*cost_ns) * double(cut.count) / double(cut.waits.count));
}

// Returns the ids that a finding quotes.
std::vector<int64_t> FirstRows(const std::vector<int64_t>& ids) {
  return {ids.begin(), ids.begin() + int64_t(std::min(ids.size(), kMaxReadRows))};
}

ReadValue ValueOf(const EarlyCut& cut) {
  switch (cut.value) {
    case EarlyCut::Value::kUnknown:
      return ReadValue::kUnknown;
    case EarlyCut::Value::kTensor:
      return ReadValue::kTensor;
    case EarlyCut::Value::kScalar:
      return cut.shape && cut.shape->element_type() == "pred" ? ReadValue::kBoolean
                                                              : ReadValue::kNumber;
  }
  return ReadValue::kUnknown;
}

// The judgement of each cut needs to know this of the run.
struct CutsOfRun {
  OptInt ns;                 // its length
  OptInt most_nodes;         // the size of its largest graph
  bool marks_steps = false;  // it shows step marks
};

Finding FromCut(const EarlyCut& cut, bool may_be_fallback, const CutsOfRun& of_run) {
  Finding finding{.subject = cut.subject};
  const int64_t count = int64_t(cut.executions.size());
  finding.count = count;
  finding.per_step = PerStep(count, cut.steps);
  finding.cost_ns = cut.cost_ns();
  if (cut.estimated_wait_ns) finding.certainty = Certainty::kInferred;
  finding.needs_fixing = NeedFixing(count, finding.per_step, CostOfAll(cut), of_run.ns);
  const bool is_rare = finding.per_step && !IsInEveryStep(finding.per_step);
  if (is_rare && !finding.cost_ns && cut.nodes && of_run.most_nodes &&
      double(*cut.nodes) <= policy::kNodesOfCheapRead * double(*of_run.most_nodes))
    finding.needs_fixing = false;
  // The findings about the ops ask for the change.
  if (cut.of_some_op) finding.needs_fixing = false;
  // After the last read of a step, the host has all of the step's time to record the next one.
  finding.saving_ns = finding.cost_ns;
  finding.reason = Reason{.type = ReasonType::kValueAccess};
  finding.evidence.push_back({.table = "execution", .rows = FirstRows(cut.executions)});
  EarlyReadFigures figures{.value = ValueOf(cut),
                           .shape = cut.shape,
                           .nodes = cut.nodes,
                           .graphs = cut.graphs,
                           .waits_measured = cut.waits.count,
                           .is_estimated = cut.estimated_wait_ns.has_value(),
                           .runs_nothing_again = cut.runs_nothing_again,
                           .marks_steps = of_run.marks_steps,
                           .is_limited = cut.lost < 1,
                           .may_be_fallback = may_be_fallback,
                           .is_save = cut.is_save,
                           .is_fallback = cut.of_some_op,
                           .library = cut.library,
                           .returned = cut.returned};
  if (cut.waits.count > 0) figures.wait_ns = cut.waits.sum_ns;
  if (cut.repeats.count > 0) figures.again_ns = cut.repeats.sum_ns;
  if (!cut.subject.file) figures.value_place = cut.value_place;
  if (cut.inputs && cut.inputs->count >= policy::kInputsOfRounds) figures.rounds = cut.inputs;
  finding.figures = SyncPointFigures(std::move(figures));
  return finding;
}

// Finds reads among the cuts of a log or a profile. Cuts that are known to be an op without
// lowering are left out.
Findings FromCuts(const EarlyCuts& cuts, const CutsOfRun& of_run) {
  const bool unplaced_ops =
      std::ranges::any_of(cuts.ops, [](const FallbackOp& op) { return op.cuts.empty(); });
  Findings findings;
  for (const EarlyCut& cut : cuts.cuts) {
    if (cut.op.empty())
      findings.push_back(
          FromCut(cut, unplaced_ops && cut.value != EarlyCut::Value::kScalar, of_run));
  }
  return findings;
}

// The purposes of the fetches.
struct Fetchers {
  int64_t reads = 0;           // reads of numbers
  int64_t ops = 0;             // counted calls of ops without lowering
  int64_t others = 0;          // the rest
  bool ops_uncounted = false;  // some op without lowering is named, but its calls are not counted
  // Returns whether all fetches belong to findings of one kind, so that their time is its cost.
  bool are_of_one_kind() const { return ops == 0 && !ops_uncounted && (reads == 0 || others == 0); }
};

Fetchers Divide(const Fetches& fetches, const EarlyCuts& cuts) {
  Fetchers fetchers{.reads = cuts.scalar_reads.value_or(0)};
  for (const FallbackOp& op : cuts.ops) {
    fetchers.ops += op.count.value_or(0);
    fetchers.ops_uncounted = fetchers.ops_uncounted || !op.count;
  }
  if (fetches.count)
    fetchers.others = std::max<int64_t>(0, *fetches.count - fetchers.reads - fetchers.ops);
  return fetchers;
}

// Returns the kind of value that is fetched, judged by the mean size of the fetches.
ReadValue FetchedValue(const Fetches& fetches) {
  if (fetches.mean_bytes == 0) return ReadValue::kUnknown;
  return fetches.mean_bytes > 0 && fetches.mean_bytes <= policy::kBytesOfNumber
             ? ReadValue::kNumber
             : ReadValue::kTensor;
}

// Makes the finding about `count` reads. The caller sets its subject.
Finding FromCount(int64_t count, OptInt steps, const Fetches& fetches,
                  const CountedReadFigures& figures, OptInt run_ns) {
  Finding finding{.count = count};
  if (figures.goes_on) finding.per_step = PerStep(count, steps);
  // Without step marks, the number of executions is an upper bound of the number of steps.
  std::optional<double> rate = finding.per_step;
  if (!rate && figures.executions) rate = double(count) / double(*figures.executions);
  if (!figures.time_is_shared) finding.cost_ns = fetches.time_ns;
  // The time of all fetches is an upper bound of that of these.
  finding.needs_fixing = figures.goes_on && NeedFixing(count, rate, fetches.time_ns, run_ns);
  finding.reason = Reason{.type = ReasonType::kValueAccess};
  finding.evidence.push_back({.table = "metric"});
  finding.figures = SyncPointFigures(figures);
  return finding;
}

// Returns the length of the run: that of the timeline, or else the time that the metrics count or
// in which values were fetched, which are lower bounds.
absl::StatusOr<OptInt> KnownRunTime(const Run& run) {
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  if (times->longest().value_or(0) > 0) return times->longest();
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  if (!metrics->last) return OptInt();
  double ns = 0;
  for (const std::string_view name : {metric_names::kCompileTime, metric_names::kExecuteTime}) {
    if (const MetricState* metric = metrics->last->Find(name)) ns += metric->sum;
  }
  XP_TRY(const Fetches* fetches, run.Get<Fetches>());
  if (const MetricState* metric = metrics->last->Find(fetches->metric))
    ns = std::max(ns, 1e9 * metric->recorded_s());
  return ns > 0 ? OptInt(Whole(ns)) : OptInt();
}

// Finds reads in the counters of a metrics report, for captures without a log or a profile.
absl::Status FromMetrics(const Run& run, const EarlyCuts& cuts, OptInt steps, Findings& findings) {
  XP_TRY(const OptInt run_ns, KnownRunTime(run));
  XP_TRY(const Fetches* counted, run.Get<Fetches>());
  const Fetches& fetches = *counted;
  const Fetchers fetchers = Divide(fetches, cuts);
  CountedReadFigures figures{.goes_on = fetches.go_on,
                             .time_is_shared = fetches.time_ns && !fetchers.are_of_one_kind(),
                             .read_calls = cuts.scalar_reads,
                             .fetches = fetches.count,
                             .fetch_metric = fetches.metric,
                             .profiler_line = fetches.profiler_line};
  if (fetches.executions.value_or(0) > 0) figures.executions = fetches.executions;
  figures.counted = CountedReadFigures::Counted::kCallsAtPlace;
  for (const auto& [where, count] : cuts.scalar_read_sites) {
    findings.push_back(FromCount(count, steps, fetches, figures, run_ns));
    findings.back().subject = where;
  }
  figures.counted = CountedReadFigures::Counted::kCalls;
  if (fetchers.reads > 0 && cuts.scalar_read_sites.empty())
    findings.push_back(FromCount(fetchers.reads, steps, fetches, figures, run_ns));
  if (fetchers.others < policy::kOftenWithoutSteps) return absl::OkStatus();
  figures.counted = CountedReadFigures::Counted::kFetches;
  figures.value = FetchedValue(fetches);
  figures.may_be_fallback = fetchers.ops_uncounted;
  XP_TRY(const Executions* executions, run.Get<Executions>());
  figures.after_marks = std::ranges::any_of(
      executions->rows, [](const ExecutionRow& row) { return row.cause && EndsStep(*row.cause); });
  findings.push_back(FromCount(fetchers.others, steps, fetches, figures, run_ns));
  return absl::OkStatus();
}

// Finds fetches after the step marks, of several values in each step, in a run whose early cuts are
// known. Their graph is not cut, so only the metrics count them.
absl::Status FromFetchesAfterMarks(const Run& run, const EarlyCuts& cuts, OptInt steps,
                                   Findings& findings) {
  XP_TRY(const OptInt run_ns, KnownRunTime(run));
  XP_TRY(const Fetches* fetches, run.Get<Fetches>());
  const Fetchers fetchers = Divide(*fetches, cuts);
  if (fetchers.ops > 0 || fetchers.ops_uncounted) return absl::OkStatus();  // an op fetches several
  int64_t fetched = fetchers.others;
  for (const EarlyCut& cut : cuts.cuts) fetched -= int64_t(cut.executions.size());
  const std::optional<double> per_step = PerStep(std::max<int64_t>(0, fetched), steps);
  if (per_step.value_or(0) < policy::kFetchesOfSeveralValues || !fetches->time_ns || !run_ns ||
      double(*fetches->time_ns) < policy::kReadShareOfStep * double(*run_ns))
    return absl::OkStatus();
  const CountedReadFigures figures{.counted = CountedReadFigures::Counted::kFetches,
                                   .value = FetchedValue(*fetches),
                                   .goes_on = fetches->go_on,
                                   .time_is_shared = 10 * fetched < 9 * fetches->count.value_or(0),
                                   .after_marks = true,
                                   .fetches = fetches->count,
                                   .fetch_metric = fetches->metric};
  findings.push_back(FromCount(fetched, steps, *fetches, figures, run_ns));
  return absl::OkStatus();
}

// Finds reads in a log of compilations alone (PT_XLA_DEBUG_LEVEL=1). The log shows where graphs
// were compiled for a read, but not how often the read happened.
absl::Status FromCompiles(const Run& run, Findings& findings) {
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  struct CompiledForRead {
    int64_t count = 0, first_compile = 0;
    OptInt site_id;
  };
  std::map<OptInt, CompiledForRead> by_site;
  for (const CompileRow& compile : compiles->rows) {
    if (compile.cause != CutKind::kValueAccess) continue;
    CompiledForRead& read = by_site[compile.site_id];
    if (read.count++ == 0) read.first_compile = compile.id, read.site_id = compile.site_id;
  }
  std::vector<CompiledForRead> reads;
  for (const auto& [site_id, read] : by_site) reads.push_back(read);
  std::ranges::sort(reads, [](const CompiledForRead& a, const CompiledForRead& b) {
    return std::pair(-a.count, a.first_compile) < std::pair(-b.count, b.first_compile);
  });
  for (const CompiledForRead& read : reads) {
    Finding finding{.needs_fixing = read.count >= policy::kOftenWithoutSteps,
                    .subject = sites->SubjectOf(read.site_id),
                    .reason = Reason{.type = ReasonType::kValueAccess},
                    .evidence = {{.table = "compile", .rows = {read.first_compile}}}};
    finding.figures = SyncPointFigures(CompiledReadFigures{.graphs = read.count});
    findings.push_back(std::move(finding));
  }
  return absl::OkStatus();
}

// Returns the time of JAX's reads in which the device that works most has nothing to do. The rest is
// work that the host would wait for anyway.
int64_t LostNs(const DeviceReads& place, const DeviceTimes& devices) {
  int64_t lost_ns = 0;
  for (const DeviceReads::Time& read : place.all) {
    int64_t busy_ns = 0;
    for (const DeviceTime& device : devices.devices)
      busy_ns = std::max(busy_ns, Overlap(device.busy, {read.ts_ns, read.ts_ns + read.dur_ns}));
    lost_ns += read.dur_ns - busy_ns;
  }
  return lost_ns;
}

// Makes the finding about the reads at one place, without whether it needs fixing. The device is
// idle during the share `lost` of the time that the reads block.
Finding FromPlace(const Run& run, const DeviceReads& place, OptInt steps, double lost,
                  OptInt idle_ns) {
  Finding finding{.subject = place.subject,
                  .count = place.count,
                  .per_step = PerStep(place.count, steps),
                  .cost_ns = Whole(lost * double(place.blocked_ns))};
  if (place.scope != 0) {
    const NamedBy named_by = place.in_step ? NamedBy::kStep : NamedBy::kScope;
    finding.subject.scope = ScopeText(run, Activity{.named_by = named_by, .scope = place.scope});
  }
  finding.reason = Reason{.type = ReasonType::kValueAccess};
  for (const DeviceReads::Time& time : place.longest)
    finding.evidence.push_back({.table = "event", .ts_ns = time.ts_ns, .dur_ns = time.dur_ns});
  const Op& op = FindTorchOp(place.op);
  ReadOperationFigures figures{.of_jax = op.kind == OpKind::kUnknown,
                               .counts_elements = op.Has(OpTrait::kSizedByValues),
                               .copies = place.copies,
                               .blocked_ns = place.blocked_ns};
  if (lost < 1) figures.device_idle_ns = idle_ns;
  finding.figures = SyncPointFigures(figures);
  return finding;
}

// Finds reads that a profile shows as calls: operations of a program that runs op by op, or JAX's
// calls that wait for an array.
absl::Status FromOperations(const Run& run, Findings& findings) {
  XP_TRY(const DeviceReadsInSteps* reads, run.Get<DeviceReadsInSteps>());
  if (reads->places.empty()) return absl::OkStatus();
  XP_TRY(const Steps* steps, run.Get<Steps>());
  OptInt whole_steps;
  if (reads->steps > 0)
    whole_steps =
        std::max<int64_t>(1, reads->steps - std::ranges::count_if(steps->all, &StepSpan::cut));
  XP_TRY(const IdleTime* idle, run.Get<IdleTime>());
  const OptInt idle_ns = idle->most_ns();
  double blocked_ns = 0;
  for (const DeviceReads& place : reads->places) blocked_ns += double(place.blocked_ns);
  // While the host waits for the device to work, only the device's idle time is lost.
  const double lost =
      std::min(1.0, double(idle_ns.value_or(INT64_MAX)) / std::max(1.0, blocked_ns));
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  // The steps that a log shows may have no times.
  const OptInt steady_ns = Median(steps->steady_ns);
  const double steps_ns = whole_steps && steady_ns ? double(*steady_ns) * double(*whole_steps)
                                                   : double(times->longest().value_or(0));
  XP_TRY(const DeviceTimes* devices, run.Get<DeviceTimes>());
  XP_TRY(const WorkUnit* unit, run.Get<WorkUnit>());
  for (const DeviceReads& place : reads->places) {
    // Any program that is timed waits once, at its end.
    if (place.op == kJaxWait && place.count < policy::kNotOnce) continue;
    Finding finding = FromPlace(run, place, whole_steps, lost, idle_ns);
    if (!place.all.empty()) finding.cost_ns = LostNs(place, *devices);
    const double least_share =
        place.all.empty() ? policy::kReadShareOfStep : policy::kArrayReadShareOfStep;
    // Without steps, one execution of the program that takes most time is the unit.
    std::optional<double> rate = finding.per_step;
    if (!rate && unit->program) rate = PerStep(place.count, unit->program->executions);
    // Without steps, a wait may be all that the program does: it measures the time of one call.
    finding.needs_fixing = double(*finding.cost_ns) >= least_share * steps_ns &&
                           IsOften(place.count, rate) && (whole_steps || place.op != kJaxWait);
    findings.push_back(std::move(finding));
  }
  return absl::OkStatus();
}

// Finds callbacks into Python inside jitted programs. The device waits until Python returns.
absl::Status FromCallbacks(const Run& run, Findings& findings) {
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  if (times->devices.empty()) return absl::OkStatus();
  XP_TRY(const std::vector<CallbackNode> callbacks, PythonCallbacks(run));
  if (callbacks.empty()) return absl::OkStatus();
  XP_TRY(const DeviceOps* ops, run.Get<DeviceOps>());
  XP_TRY(const UserCode* code, run.Get<UserCode>());
  for (const DeviceTime& device : times->devices) {
    const auto of_device = ops->by_device.find({device.process_id, device.device});
    if (of_device == ops->by_device.end()) continue;
    for (const auto& [name, op] : of_device->second) {
      const auto callback =
          std::ranges::find(callbacks, ops->names.at(name).op, &CallbackNode::name);
      const double share = double(op.ns) / double(std::max<int64_t>(1, device.busy_ns));
      if (callback == callbacks.end() || op.count < policy::kNotOnce ||
          share < policy::kCallbackShare)
        continue;
      Finding finding{.needs_fixing = true,
                      .count = op.count,
                      .cost_ns = op.ns,
                      .saving_ns = op.ns,
                      .reason = Reason{.type = ReasonType::kValueAccess},
                      .evidence = {{.table = "event",
                                    .rows = {op.event_id},
                                    .ts_ns = op.ts_ns,
                                    .dur_ns = op.longest_ns}}};
      finding.subject.op = callback->framework_op.empty() ? callback->name : callback->framework_op;
      const SourcePlace place = code->Of(callback->location);
      if (!place.empty()) finding.subject.SetPlace(place);
      finding.figures = SyncPointFigures(CallbackFigures{.device = device.label, .share = share});
      findings.push_back(std::move(finding));
    }
  }
  return absl::OkStatus();
}

}  // namespace

static absl::StatusOr<Findings> FindSyncPoints(const Run& run) {
  XP_TRY(const EarlyCuts* cuts, run.Get<EarlyCuts>());
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  XP_TRY(const StepCounts* counts, run.Get<StepCounts>());
  Findings findings;
  if (!cuts->cuts.empty()) {
    XP_TRY(const Graphs* graphs, run.Get<Graphs>());
    CutsOfRun of_run{.ns = times->longest()};
    for (const auto& [id, graph] : graphs->by_id) {
      if (graph.node_count)
        of_run.most_nodes = std::max(of_run.most_nodes.value_or(0), *graph.node_count);
    }
    XP_TRY(const Executions* executions, run.Get<Executions>());
    XP_TRY(const LastTracing* last, run.Get<LastTracing>());
    of_run.marks_steps = last->step_marks.value_or(0) > 0 ||
                         std::ranges::any_of(executions->rows, [](const ExecutionRow& row) {
                           return row.cause && EndsStep(*row.cause);
                         });
    findings = FromCuts(*cuts, of_run);
    XP_TRY(FromFetchesAfterMarks(run, *cuts, counts->all, findings));
    return findings;
  }
  XP_TRY(const Executions* executions, run.Get<Executions>());
  if (executions->rows.empty()) XP_TRY(FromCompiles(run, findings));
  XP_TRY(FromMetrics(run, *cuts, counts->all, findings));
  if (findings.empty()) XP_TRY(FromOperations(run, findings));
  XP_TRY(FromCallbacks(run, findings));
  return findings;
}

extern const Analyzer sync_point{
    .name = "sync_point",
    .summary = "reads that evaluate the graph before the step mark and make the host wait",
    .meaning =
        "The program reads a value of a tensor before the step ends: .item(), print, `if "
        "tensor`, .cpu(). The host stops until the device has computed the value, and a "
        "lazy runtime runs the part of the graph that the value needs twice.",
    .looks_at =
        "executions before a step mark, their lines, fallback counters, transfers from the device; reading calls in profiles of PyTorch and JAX",
    .find = FindSyncPoints,
    .say = SaySyncPoint,
    .needs = Needs::kReads,
    .thresholds = {policy::kOftenPerStep, policy::kNodesOfCheapRead, policy::kNotOnce,
                   policy::kOftenWithoutSteps, policy::kReadShareOfStep,
                   policy::kFetchesOfSeveralValues, policy::kArrayReadShareOfStep,
                   policy::kCallbackShare, policy::kBytesOfNumber, policy::kInputsOfRounds,
                   policy::kEveryStep}};
}  // namespace xlaprof
