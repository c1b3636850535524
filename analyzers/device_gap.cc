// Finds idle time of a device between executions, and what the host did meanwhile. Gaps are summed
// and compared with the time in which they lie, because a device that idles 30 us before each of a
// million kernels is as slow as one that idles once for 30 s. There is one finding per activity of
// the host and user scope, and one more if some of its gaps do not recur. If kernels are joined with
// the calls that launch them, it also says whether the host was late, the launching call took that
// long, or the work waited in the queue.
#include "analyzers/device_gap.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>

#include "analyzers/analyzer.h"
#include "analyzers/run/around_gaps.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/early_cuts.h"
#include "analyzers/run/host_calls.h"
#include "analyzers/run/host_samples.h"
#include "analyzers/run/idle_causes.h"
#include "analyzers/run/scopes.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/uploads.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

// The steady time, which idle time is compared with.
struct SteadyTime {
  int64_t ns = 0;
  int64_t usual_ns = 0;  // the part outside steps that compile
  bool by_steps = false;
  int64_t steps = 0;  // steady steps of the device's process

  // Returns the time with which idle time of this cause is compared. If the cause has nothing to do
  // with compiling, these are the steps that do not compile, so that a compilation of seconds does
  // not hide the idle time in the other steps.
  IdleShareOf Of(const IdleCause& cause) const {
    if (usual_ns < ns && cause.activity.doing != Doing::kCompile)
      return IdleShareOf::kStepsWithoutCompiles;
    return by_steps ? IdleShareOf::kSteadySteps : IdleShareOf::kExecutions;
  }
  int64_t LengthOf(IdleShareOf share_of) const {
    return share_of == IdleShareOf::kStepsWithoutCompiles ? usual_ns : ns;
  }
  double ShareOf(const IdleCause& cause, const IdleOfCause& idle) const {
    return Of(cause) == IdleShareOf::kStepsWithoutCompiles
               ? double(idle.usual_ns) / double(usual_ns)
               : double(idle.ns) / double(ns);
  }
  bool IsEnough(const IdleCause& cause, const IdleOfCause& idle) const {
    return ShareOf(cause, idle) >= policy::kDeviceIdleShare;
  }
};

SteadyTime SteadyTimeOf(const DeviceIdle& device, const Steps& steps,
                        const std::vector<Interval>& compiling) {
  SteadyTime steady{.ns = device.steady.length_ns(),
                    .usual_ns = device.steady.length_ns(),
                    .by_steps = device.by_steps,
                    .steps = device.by_steps ? device.chances : 0};
  const int64_t usual_steps =
      std::count_if(steps.all.begin(), steps.all.end(), [&](const StepSpan& step) {
        return step.process_id == device.time.process_id && step.steady() && !step.compiles;
      });
  // If nearly all steps compile, the time between them does not represent a usual step.
  if (usual_steps >= policy::kNotOnce) steady.usual_ns -= Overlap(compiling, device.steady);
  return steady;
}

// Merges causes that are too small for a finding and differ only in the user's scope, because a
// hundred scopes with half a percent each are half of the time.
std::vector<std::pair<IdleCause, IdleOfCause>> Gather(
    std::vector<std::pair<IdleCause, IdleOfCause>> causes, const SteadyTime& steady) {
  std::map<std::pair<GapWait, Doing>, std::pair<IdleCause, IdleOfCause>> rest;
  std::vector<std::pair<IdleCause, IdleOfCause>> out;
  for (auto& [cause, idle] : causes) {
    if (steady.IsEnough(cause, idle)) {
      out.emplace_back(cause, std::move(idle));
      continue;
    }
    auto [sum, is_first] = rest.try_emplace({cause.wait, cause.activity.doing}, cause, idle);
    if (!is_first) sum->second.second.Add(idle);
  }
  for (auto& [kind, sum] : rest) out.push_back(std::move(sum));
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  return out;
}

// Returns whether the innermost scopes of `path` (outer/inner) are `scope`.
bool EndsWithScope(std::string_view path, std::string_view scope) {
  return path == scope || (path.ends_with(scope) && path.size() > scope.size() &&
                           path[path.size() - scope.size() - 1] == '/');
}

// Sets the line of `subject` to the one that most often cuts the graph inside the scope, or else
// copies there.
absl::Status FillLine(const Run& run, std::string_view scope, Subject& subject) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  std::map<int64_t, int64_t> count;  // by site
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (row.scope && EndsWithScope(*row.scope, scope) && sites->Find(row.site_id) != nullptr)
        ++count[*row.site_id];
    }
  };
  add(executions->rows);
  if (count.empty()) add(transfers->rows);
  if (count.empty()) return absl::OkStatus();
  const Subject place = sites->MostFrequent(count);
  subject.file = place.file, subject.line = place.line, subject.function = place.function;
  return absl::OkStatus();
}

ReasonType ReasonOf(const IdleCause& cause) {
  // These explain why the host is late.
  if (cause.activity.doing == Doing::kAllocate) return ReasonType::kAllocator;
  if (cause.activity.doing == Doing::kCapture) return ReasonType::kGraphCapture;
  switch (cause.wait) {
    case GapWait::kHostWait:
      return ReasonType::kHostWait;
    case GapWait::kLaunch:
      return ReasonType::kLaunch;
    case GapWait::kKernelWait:
    case GapWait::kUnrecorded:
      return ReasonType::kKernelWait;
    case GapWait::kUnknown:
      break;
  }
  switch (cause.activity.doing) {
    case Doing::kNothing:
      return ReasonType::kNothingRecorded;
    case Doing::kUserCode:
      return ReasonType::kUserScope;
    case Doing::kRuntime:
      return ReasonType::kRuntime;
    case Doing::kTracing:
      return ReasonType::kTracing;
    case Doing::kExecute:
      return ReasonType::kExecute;
    case Doing::kInput:
      return ReasonType::kInput;
    case Doing::kTransfer:
      return ReasonType::kTransfer;
    case Doing::kAllocate:
      return ReasonType::kAllocator;
    case Doing::kCapture:
      return ReasonType::kGraphCapture;
    case Doing::kCompile:
      return ReasonType::kCompile;
  }
  return ReasonType::kUnknown;
}

// Returns how idle the devices are, if there are several.
std::optional<IdleOfDevices> AllDevices(const std::vector<DeviceIdle>& devices) {
  std::vector<double> shares;
  for (const DeviceIdle& device : devices) {
    if (device.takes_part) shares.push_back(device.idle_share());
  }
  if (shares.size() < 2) return {};
  const auto [least, most] = std::ranges::minmax(shares);
  return IdleOfDevices{.devices = int64_t(shares.size()), .least_share = least, .most_share = most};
}

// The facts that all causes of one device's gaps share.
struct Circumstances {
  const Run& run;
  const DeviceIdle& device;
  const HostTimeline& host;
  const CaptureSettings& settings;
  SteadyTime steady;
  std::optional<IdleOfDevices> all_devices;
  std::optional<SmallExecutions> small_executions;
  int64_t idle_ns = 0;    // all gaps
  int64_t tracer_ns = 0;  // the most that the Python tracer's calls take of them

  // Returns whether these calls account for half of the idle time. All gaps are judged together,
  // because one capture has one tracer.
  bool is_slowed_by_tracer() const { return tracer_ns > 0 && 2 * tracer_ns >= idle_ns; }
  // Returns whether much idle time of small executions is left without these calls.
  bool idles_without_tracer(const IdleCause& cause, const IdleOfCause& idle) const {
    return small_executions && cause.activity.doing == Doing::kExecute &&
           double(idle.ns - tracer_ns) >= policy::kUnnamedIdleShare * double(steady.ns);
  }
};

// The part of a cause's idle time that one finding is about.
struct IdlePart {
  int64_t ns = 0, gaps = 0;
  bool recurs = false;
  std::vector<LongGap> longest;               // in the order in which they are cited
  std::array<int64_t, kMostParts> in_part{};  // its time in each part of the run
};

// Returns all idle time of a cause as one part.
std::vector<IdlePart> WholeOf(const IdleOfCause& idle, bool recurs) {
  return {{.ns = idle.ns,
           .gaps = idle.gaps,
           .recurs = recurs,
           .longest = idle.SpreadFirst(0),
           .in_part = idle.in_part}};
}

// Returns whether the host's activity explains the idle time, however often it recurs.
bool IsExplained(Doing doing) {
  return doing == Doing::kCapture || doing == Doing::kCompile || doing == Doing::kInput;
}

// Returns what recurs and what does not, each only if it is enough for a finding.
std::vector<IdlePart> PartsOf(const SteadyTime& steady, const IdleCause& cause,
                              const IdleOfCause& idle, size_t parts) {
  const Recurrence recurrence = RecurrenceOf(idle, parts);
  const double share_of_ns = steady.ShareOf(cause, idle) / double(idle.ns);
  const auto is_enough = [&](int64_t ns) {
    return share_of_ns * double(ns) >= policy::kDeviceIdleShare;
  };
  // A single step shows no recurrence. What takes a large part of it is worth a look.
  // The first call of a framework's function is slow, so only the user's code counts.
  const bool is_large_part_of_a_step = steady.steps == 1 &&
                                       cause.activity.doing == Doing::kUserCode &&
                                       share_of_ns * double(idle.ns) >= policy::kUnnamedIdleShare;
  if (!is_enough(recurrence.recurring_ns)) return WholeOf(idle, is_large_part_of_a_step);
  const size_t once = recurrence.once.size();
  std::vector<IdlePart> out{{.ns = recurrence.recurring_ns,
                             .gaps = std::max<int64_t>(1, idle.gaps - int64_t(once)),
                             .recurs = true,
                             .longest = idle.SpreadFirst(once),
                             .in_part = idle.in_part}};
  std::array<int64_t, kMostParts> once_in_part{};
  for (const LongGap& of : recurrence.once) {
    once_in_part[of.part] += of.gap.length_ns();
    out.front().in_part[of.part] -= of.gap.length_ns();
  }
  if (is_enough(recurrence.once_ns)) {
    out.push_back({.ns = recurrence.once_ns,
                   .gaps = int64_t(once),
                   .recurs = false,
                   .longest = recurrence.once,
                   .in_part = once_in_part});
  }
  return out;
}

// Returns how the settings of the capture explain the idle time, if they do.
std::optional<DeviceGapVerdict> CapturesFault(const Circumstances& of, const IdleCause& cause,
                                              const IdleOfCause& idle, std::string_view scope) {
  const CaptureSettings& settings = of.settings;
  const Doing doing = cause.activity.doing;
  if (settings.slow_tracing() && doing == Doing::kTracing) return DeviceGapVerdict::kSlowTracing;
  if (settings.may_slow_tracing && doing == Doing::kTracing)
    return DeviceGapVerdict::kMaySlowTracing;
  const int64_t reads_ns = settings.FallbackBoundNs(scope);
  const int64_t bound_ns = idle.gaps * settings.TracingBoundNs(scope) + reads_ns;
  if (doing == Doing::kUserCode && bound_ns > 0 && idle.ns <= bound_ns)
    return reads_ns > 0 ? DeviceGapVerdict::kScopeReads : DeviceGapVerdict::kScopeTraces;
  // In a single step, nothing shows how much of the time is the tracer's.
  const bool is_doubtful =
      settings.python_tracer && of.steady.steps == 1 && doing != Doing::kUserCode;
  const bool is_slowed = of.is_slowed_by_tracer() && !of.idles_without_tracer(cause, idle);
  return is_slowed || is_doubtful ? std::optional(DeviceGapVerdict::kPythonTracer) : std::nullopt;
}

// Returns how many calls of ops without lowering the counters show for each step.
absl::StatusOr<double> FallbacksPerStep(const Run& run) {
  XP_TRY(const EarlyCuts* cuts, run.Get<EarlyCuts>());
  XP_TRY(const StepCounts* steps, run.Get<StepCounts>());
  int64_t calls = 0;
  for (const FallbackOp& op : cuts->ops) calls += op.count.value_or(0);
  return steps->all.value_or(0) > 0 ? double(calls) / double(*steps->all) : 0.0;
}

// Returns what the host uploaded after most of the time in these gaps in which nothing was recorded,
// if that is large, or if it is the batch. Python traces graphs in such times, too, so small uploads
// later in the step say nothing.
absl::StatusOr<std::optional<PreparedUploads>> UploadsAfter(const Circumstances& of,
                                                            const IdleCause& cause,
                                                            const IdleOfCause& idle) {
  if (cause.activity.doing != Doing::kNothing || cause.wait != GapWait::kUnknown)
    return std::nullopt;
  XP_TRY(const StepUploads* uploads, of.run.Get<StepUploads>(of.device.time.process_id));
  const bool are_large = uploads->usual_bytes.value_or(0) >= policy::kLargeUploadBytes;
  const bool is_batch =
      !uploads->has_others && uploads->largest_bytes.value_or(0) >= policy::kBatchBytes;
  if (!are_large && !is_batch) return std::nullopt;
  int64_t unrecorded_ns = 0, before_first_ns = 0, before_any_ns = 0;
  for (const LongGap& gap : idle.longest) {
    unrecorded_ns += gap.main_ns;
    const auto first = std::ranges::lower_bound(uploads->starts_ns, gap.gap.begin_ns);
    if (first == uploads->starts_ns.end() || *first >= gap.gap.end_ns) continue;
    // Calls that free the last batch may be recorded in the middle.
    before_first_ns += of.host.TotalsDuring({gap.gap.begin_ns, *first})[size_t(Doing::kNothing)];
    before_any_ns += of.host.UnrecordedBefore(gap.gap, uploads->starts_ns);
  }
  const bool is_before_first =
      is_batch && double(before_first_ns) >= policy::kBeforeBatchShare * double(unrecorded_ns);
  const bool is_before_any = are_large && 2 * before_any_ns >= unrecorded_ns;
  if (!is_before_first && !is_before_any) return std::nullopt;
  XP_TRY(const double fallbacks_per_step, FallbacksPerStep(of.run));
  return PreparedUploads{.per_step = uploads->per_step,
                         .usual_bytes = are_large ? *uploads->usual_bytes : *uploads->largest_bytes,
                         .is_batch = is_before_first,
                         .are_of_fallbacks = 2 * fallbacks_per_step >= uploads->per_step,
                         .inputs = uploads->inputs};
}

// Returns whether no event names what the host did.
bool IsUnnamed(const IdleCause& cause) {
  const Activity& activity = cause.activity;
  return cause.wait == GapWait::kUnknown &&
         (activity.doing == Doing::kNothing ||
          (activity.doing == Doing::kUserCode && activity.named_by == NamedBy::kStep));
}

// Returns the lines between which the host worked for most of these gaps, if no event names that work.
absl::StatusOr<std::optional<WorkBetweenLines>> WorkIn(const Circumstances& of,
                                                       const IdleCause& cause,
                                                       const IdlePart& part) {
  if (!IsUnnamed(cause)) return std::nullopt;
  XP_TRY(const std::optional<WorkBetweenLines> work,
         FindWorkBetweenLines(of.run, of.device.time.process_id, part.longest));
  int64_t examined_ns = 0;
  for (const LongGap& gap : part.longest) examined_ns += gap.gap.length_ns();
  if (!work || 2 * work->ns < examined_ns) return std::nullopt;
  return work;
}

// Sets what sampled stacks show in most of these gaps, if no event names the work.
absl::Status NameBySamples(const Circumstances& of, const IdleCause& cause, const IdlePart& part,
                           DeviceGapFigures& figures) {
  if (!IsUnnamed(cause)) return absl::OkStatus();
  XP_TRY(const HostSamples* samples, of.run.Get<HostSamples>(of.device.time.process_id));
  if (samples->empty()) return absl::OkStatus();
  std::vector<Interval> gaps;
  for (const LongGap& gap : part.longest) gaps.push_back(gap.gap);
  std::ranges::sort(gaps, {}, &Interval::begin_ns);
  const HostSamples::Total total = samples->TotalIn(gaps);
  const int64_t examined = total.all.samples;
  if (examined < policy::kFewestSamples) return absl::OkStatus();
  for (const Doing doing : {Doing::kTracing, Doing::kRuntime}) {
    const SampledHost seen{
        .doing = doing, .samples = total.Of(doing).samples, .examined = examined};
    if (seen.share() >= policy::kSampledShare) figures.sampled = seen;
  }
  for (const Doing doing : {Doing::kInput, Doing::kUserCode}) {
    const std::optional<SampledFunction> function = samples->FunctionIn(gaps, doing);
    if (!function || function->samples < policy::kFewestSamples) continue;
    const SampledHost seen{.doing = doing,
                           .place = function->place,
                           .samples = function->samples,
                           .examined = examined};
    const bool is_long = figures.share * seen.share() >= policy::kUnnamedIdleShare;
    const auto is_whole_step = [&] {
      return samples->ShareOf(seen.place, of.device.steady) >= policy::kWholeStepShare;
    };
    if (figures.sampled && figures.sampled->samples > seen.samples) {
      if (is_long) figures.sampled_beside = seen;
    } else if (is_long || (seen.share() >= policy::kSampledShare && !is_whole_step())) {
      figures.sampled = seen;
    }
  }
  return absl::OkStatus();
}

DeviceGapVerdict Judge(const Circumstances& of, const IdleCause& cause, const IdleOfCause& idle,
                       const IdlePart& part, const DeviceGapFigures& figures) {
  const std::string& scope = figures.scope;
  const double share = figures.share;
  if (auto fault = CapturesFault(of, cause, idle, scope)) return *fault;
  const Activity& activity = cause.activity;
  if (cause.wait == GapWait::kUnrecorded) return DeviceGapVerdict::kUnrecorded;
  if (activity.doing == Doing::kCapture) return DeviceGapVerdict::kCapturesGraph;
  if (IsExplained(activity.doing)) return DeviceGapVerdict::kPricedElsewhere;
  if (!of.steady.by_steps && of.steady.ns < policy::kShortestWindowNs)
    return DeviceGapVerdict::kTooShort;
  if (!part.recurs) return DeviceGapVerdict::kOnce;
  if (cause.wait == GapWait::kLaunch || cause.wait == GapWait::kKernelWait)
    return DeviceGapVerdict::kPattern;
  // If the host launches each op too late, that is the cause, whatever it does in between.
  if (activity.doing == Doing::kNothing && cause.wait != GapWait::kHostWait) {
    // The device waits for the host if that traces for longer than the device works.
    if (figures.sampled && !figures.sampled->is_of_function())
      return share >= policy::kTracingIdleShare ? DeviceGapVerdict::kPattern
                                                : DeviceGapVerdict::kUnnamed;
    const bool is_named = figures.sampled || (figures.uploads && figures.uploads->inputs);
    return is_named || ((figures.uploads || figures.work) && share >= policy::kUnnamedIdleShare)
               ? DeviceGapVerdict::kPattern
               : DeviceGapVerdict::kUnseen;
  }
  if (figures.small_executions) return DeviceGapVerdict::kPattern;
  // A CPU runs programs on the threads that launch them.
  if (of.device.time.device.starts_with("CPU") && activity.doing == Doing::kExecute)
    return DeviceGapVerdict::kUnnamed;
  const bool unnamed = !figures.sampled && cause.wait == GapWait::kUnknown &&
                       activity.doing == Doing::kUserCode && activity.named_by == NamedBy::kStep;
  return unnamed && share < policy::kUnnamedIdleShare ? DeviceGapVerdict::kUnnamed
                                                      : DeviceGapVerdict::kPattern;
}

ReasonType ReasonOf(const IdleCause& cause, const DeviceGapFigures& figures) {
  if (figures.sampled && figures.sampled->doing == Doing::kTracing) return ReasonType::kTracing;
  if (figures.sampled && figures.sampled->doing == Doing::kRuntime) return ReasonType::kRuntime;
  if (figures.recurs() && figures.sampled)
    return figures.sampled->doing == Doing::kInput ? ReasonType::kInput : ReasonType::kSampledLine;
  if (figures.recurs() && figures.uploads)
    return figures.uploads->are_of_fallbacks ? ReasonType::kNoLowering
           : figures.follows_fetch()         ? ReasonType::kUserScope
                                             : ReasonType::kInput;
  if (figures.recurs() && figures.work) return ReasonType::kUserScope;
  switch (figures.verdict) {
    case DeviceGapVerdict::kOnce:
      return ReasonType::kOnce;
    case DeviceGapVerdict::kUnseen:
      return ReasonType::kNothingRecorded;
    case DeviceGapVerdict::kPattern:
    case DeviceGapVerdict::kUnnamed:
    case DeviceGapVerdict::kCapturesGraph:
    case DeviceGapVerdict::kPricedElsewhere:
    case DeviceGapVerdict::kTooShort:
    case DeviceGapVerdict::kUnrecorded:
      return ReasonOf(cause);
    case DeviceGapVerdict::kPythonTracer:
    case DeviceGapVerdict::kSlowTracing:
    case DeviceGapVerdict::kMaySlowTracing:
    case DeviceGapVerdict::kScopeTraces:
    case DeviceGapVerdict::kScopeReads:
      return ReasonType::kCaptureSettings;
  }
  return ReasonType::kUnknown;
}

constexpr size_t kCitedGaps = kStretches;  // so that each stretch of the run may be cited

// Sets what the host's events say about the longest gaps.
absl::Status NameCalls(const Circumstances& of, const IdleCause& cause, const IdlePart& part,
                       DeviceGapFigures& figures) {
  const bool host_matters = cause.wait == GapWait::kUnknown || cause.wait == GapWait::kHostWait;
  const int64_t process_id = of.device.time.process_id;
  std::vector<Interval> gaps;
  for (size_t i = 0; i < std::min(part.longest.size(), kCitedGaps); ++i) {
    figures.parts_ns.push_back(part.longest[i].main_ns);
    gaps.push_back(part.longest[i].gap);
  }
  std::vector<HostCalls> calls(gaps.size());
  if (host_matters) {
    XP_TRY(calls, CallsDuring(of.run, process_id, gaps));
  }
  for (const HostCalls& during : calls)
    figures.calls.push_back(during.main() ? during.main()->name : "");
  if (!host_matters || part.longest.empty()) return absl::OkStatus();
  if (const std::optional<HostCall>& main = calls.front().main()) {
    XP_TRY(figures.main_call_launches, LaunchesDuring(of.run, process_id, main->time));
  }
  const Interval longest = part.longest.front().gap;
  figures.longest_share = double(longest.length_ns()) / double(std::max<int64_t>(1, part.ns));
  XP_TRY(figures.launches_in_gaps, LaunchesDuring(of.run, process_id, longest));
  if (figures.doing != Doing::kNothing) return absl::OkStatus();
  XP_TRY(const HostNeighbours events, NeighboursOf(of.run, process_id, longest));
  if (events.before) figures.event_before = events.before->name;
  if (events.after) figures.event_after = events.after->name;
  XP_TRY(const LinesAround lines, LinesAroundTime(of.run, process_id, longest));
  figures.line_before = lines.before, figures.line_after = lines.after;
  return absl::OkStatus();
}

absl::StatusOr<DeviceGapFigures> FiguresOf(const Circumstances& of, const IdleCause& cause,
                                           const IdleOfCause& idle, const IdlePart& part) {
  const Activity& activity = cause.activity;
  DeviceGapFigures figures{
      .device = of.device.time.label,
      .all_devices = of.all_devices,
      .from_ops = of.device.time.from == BusyFrom::kOps,
      .wait = cause.wait,
      .doing = activity.doing,
      .host_recorded = of.host.has_events(),
      .scope = ScopeText(of.run, activity),
      .scopes = idle.scopes,
      .named_by = activity.named_by,
      .main_share = double(idle.main_ns) / double(idle.ns),
      .share = of.steady.ShareOf(cause, idle) * double(part.ns) / double(idle.ns),
      .share_of = of.steady.Of(cause),
      .share_of_ns = of.steady.LengthOf(of.steady.Of(cause)),
      .chances = of.device.chances,
      .chances_are_steps = of.device.by_steps,
      .is_only_step = of.device.by_steps && of.device.chances == 1,
      .settings = of.settings};
  XP_TRY(const Contents* contents, of.run.Get<Contents>());
  figures.has_old_torch = contents->has_old_torch;
  figures.runs_compiled_functions = contents->runs_compiled_functions;
  XP_TRY(figures.uploads, UploadsAfter(of, cause, idle));
  if (!figures.uploads || !figures.uploads->inputs) {
    XP_TRY(figures.work, WorkIn(of, cause, part));
  }
  if (!figures.uploads || (!figures.uploads->inputs && !figures.uploads->are_of_fallbacks)) {
    XP_TRY(NameBySamples(of, cause, part, figures));
  }
  if (figures.sampled) figures.work.reset();
  if (figures.work || figures.sampled) figures.uploads.reset();
  if (activity.doing == Doing::kExecute && cause.wait == GapWait::kUnknown)
    figures.small_executions = of.small_executions;
  figures.verdict = Judge(of, cause, idle, part, figures);
  if (activity.named_by == NamedBy::kFunction) {
    figures.launches_in_scope = false;
  } else if (cause.wait == GapWait::kHostWait && activity.doing == Doing::kUserCode &&
             activity.is_in_scope() && idle.scopes == 1) {
    XP_TRY(figures.launches_in_scope,
           LaunchesIn(of.run, of.device.time.process_id, activity.scope));
  }
  XP_TRY(NameCalls(of, cause, part, figures));
  // In a single step, only code that has a name can be judged.
  if (figures.recurs() && figures.is_only_step && figures.is_one_gap() &&
      figures.named_by == NamedBy::kStep && figures.calls.front().empty())
    figures.verdict = DeviceGapVerdict::kUnnamed;
  if (activity.doing == Doing::kUserCode || figures.uploads || figures.sampled) {
    std::vector<Interval> gaps;
    for (size_t i = 0; i < figures.parts_ns.size(); ++i) gaps.push_back(part.longest[i].gap);
    XP_TRY(figures.fetches, FetchesBefore(of.run, of.device.time.process_id, gaps));
  }
  return figures;
}

// Returns the scope and its place in the source, or an empty subject if there are several scopes.
absl::StatusOr<Subject> SubjectOf(const Run& run, const IdleCause& cause, const IdleOfCause& idle,
                                  const std::string& scope) {
  Subject subject;
  if (scope.empty() || idle.scopes > 1) return subject;
  XP_TRY(bool placed, FillUserCode(run, cause.activity, subject));
  if (!placed) XP_TRY(FillLine(run, scope, subject));
  return subject;
}

// Returns where in the run the gaps of one part of a cause's idle time lie.
Density DensityOf(const IdleCauses& all, const IdlePart& part, int64_t end_ns) {
  const std::span<const int64_t> ns = std::span(part.in_part).first(all.part_begins_ns.size());
  return {.begins_ns = all.part_begins_ns, .end_ns = end_ns, .ns = {ns.begin(), ns.end()}};
}

absl::StatusOr<Finding> FindingOf(const Circumstances& of, const IdleCause& cause,
                                  const IdleOfCause& idle, const IdlePart& part) {
  XP_TRY(DeviceGapFigures figures, FiguresOf(of, cause, idle, part));
  Finding finding{.count = part.gaps, .may_be_once = figures.is_only_step, .cost_ns = part.ns};
  if (figures.recurs()) {
    finding.needs_fixing = true;
    const double share = figures.sampled ? figures.sampled->share() : 1.0;
    finding.saving_ns = Whole(figures.main_share * share * double(part.ns));
    // The tracer's part of it disappears by itself.
    if (figures.small_executions) finding.saving_ns = part.ns - std::min(part.ns, of.tracer_ns);
  }
  XP_TRY(finding.subject, SubjectOf(of.run, cause, idle, figures.scope));
  if (figures.recurs() && figures.small_executions) {
    std::vector<Interval> gaps;
    for (const LongGap& gap : idle.longest) gaps.push_back(gap.gap);
    XP_TRY(figures.small_executions->function,
           FunctionAround(of.run, of.host.leading_thread(), gaps));
    if (!figures.small_executions->function.empty())
      finding.subject.SetPlace(figures.small_executions->function);
  }
  if (figures.recurs() && figures.uploads && figures.uploads->inputs)
    finding.subject.SetPlace(figures.uploads->inputs->place);
  if (figures.recurs() && figures.work) finding.subject.SetPlace(figures.work->before);
  if (figures.recurs() && figures.sampled && figures.sampled->is_of_function())
    finding.subject.SetPlace(figures.sampled->place);
  if (of.device.by_steps && of.device.chances > 0)
    finding.per_step = double(*finding.count) / double(of.device.chances);
  finding.reason = Reason{.type = ReasonOf(cause, figures)};
  const bool is_tracing = finding.reason->type == ReasonType::kTracing;
  if (figures.work || (figures.sampled && !is_tracing) || figures.small_executions ||
      (figures.uploads && figures.uploads->are_of_fallbacks))
    finding.spent_on = SpentOn::kOnCpu;
  for (size_t i = 0; i < figures.parts_ns.size(); ++i) {
    const Interval& gap = part.longest[i].gap;
    finding.evidence.push_back(
        {.table = "event", .ts_ns = gap.begin_ns, .dur_ns = gap.length_ns()});
  }
  finding.figures = std::move(figures);
  return finding;
}

// Finds the device that idles longest before the steady part, if that is long.
std::optional<Finding> StartUp(const std::vector<DeviceIdle>& devices) {
  const DeviceIdle& late = *std::ranges::max_element(devices, {}, &DeviceIdle::warm_up_idle_ns);
  if (late.warm_up_idle_ns <= 0 ||
      double(late.warm_up_idle_ns) <
          policy::kDeviceIdleShare * double(late.time.span().length_ns()))
    return {};
  return Finding{.reason = Reason{.type = ReasonType::kStartUp, .state = State::kWarmUp},
                 .evidence = {{.table = "event",
                               .ts_ns = late.warm_up.begin_ns,
                               .dur_ns = late.warm_up.length_ns()}},
                 .figures = DeviceStartUpFigures{.device = late.time.label,
                                                 .idle_ns = late.warm_up_idle_ns,
                                                 .warm_up_ns = late.warm_up.length_ns()}};
}

absl::StatusOr<Findings> FindDeviceGaps(const Run& run) {
  Findings findings;
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const IdleTime* idle_time, run.Get<IdleTime>());
  const std::vector<DeviceIdle>& devices = idle_time->devices;
  if (devices.empty()) return findings;
  if (std::optional<Finding> start_up = StartUp(devices)) findings.push_back(*std::move(start_up));
  // The device that idles most represents all, because all devices of a program wait for the same
  // host.
  const DeviceIdle& device = *std::ranges::max_element(devices, {}, &DeviceIdle::idle_ns);
  if (device.gaps.empty() || device.steady.length_ns() <= 0) return findings;

  XP_TRY(const CaptureSettings* settings, run.Get<CaptureSettings>());
  XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(device.time.process_id));
  const std::vector<Interval> compiling = CompilingSteps(*steps, device.time.process_id);
  XP_TRY(IdleCauses idle_by_cause, IdleByCause(run, device, compiling));
  XP_TRY(std::optional<SmallExecutions> small, FindSmallExecutions(run, device));
  if (small) idle_by_cause.causes = MergeLaunching(std::move(idle_by_cause.causes));
  const Circumstances of{.run = run,
                         .device = device,
                         .host = *host,
                         .settings = *settings,
                         .steady = SteadyTimeOf(device, *steps, compiling),
                         .all_devices = AllDevices(devices),
                         .small_executions = std::move(small),
                         .idle_ns = idle_by_cause.idle_ns,
                         .tracer_ns = settings->python_tracer
                                          ? idle_by_cause.python_calls * policy::kPythonTracerCallNs
                                          : 0};
  for (const auto& [cause, idle] :
       Gather(MergeLateLaunches(std::move(idle_by_cause.causes)), of.steady)) {
    if (!of.steady.IsEnough(cause, idle)) continue;
    const bool may_recur = !CapturesFault(of, cause, idle, ScopeText(run, cause.activity)) &&
                           !IsExplained(cause.activity.doing);
    for (const IdlePart& part : may_recur ? PartsOf(of.steady, cause, idle, idle_by_cause.parts)
                                          : WholeOf(idle, /*recurs=*/false)) {
      XP_TRY(Finding finding, FindingOf(of, cause, idle, part));
      if (part.gaps > int64_t(finding.evidence.size()))
        finding.density = DensityOf(idle_by_cause, part, device.steady.end_ns);
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace

bool IsGapOfFallbacks(const Finding& finding) {
  const auto* figures = std::any_cast<DeviceGapFigures>(&finding.figures);
  return figures != nullptr && figures->uploads && figures->uploads->are_of_fallbacks;
}

extern const Analyzer device_gap{
    .name = "device_gap",
    .summary = "the device idles between executions, and what the host did meanwhile",
    .meaning =
        "The device has nothing to do between two executions. The finding says how much of the steady time (the steps after warm-up) that is, and what the host did meanwhile to keep the device waiting.",
    .looks_at = "device events, steps and the host's events",
    .find = FindDeviceGaps,
    .say = SayDeviceGap,
    .needs = Needs::kDevices,
    .thresholds = {policy::kDeviceIdleShare, policy::kRecurringGapShare, policy::kNotOnce,
                   policy::kRegularGaps, policy::kRegularDistance, policy::kOnceFactor,
                   policy::kUnnamedIdleShare, policy::kTellingShareOfGaps, policy::kLongKernelWaitNs,
                   policy::kShortestWindowNs, policy::kCopyShareOfGap, policy::kPythonTracerCallNs,
                   policy::kTracedOperationNs, policy::kFallbackStackNs, policy::kLargeUploadBytes,
                   policy::kBatchBytes, policy::kBeforeBatchShare, policy::kSmallExecutionNs,
                   policy::kManySmallExecutions, policy::kSmallExecutionsPerUnit,
                   policy::kFewestSamples, policy::kSampledShare, policy::kWholeStepShare,
                   policy::kTracingIdleShare},
    .is_from_timeline = true,
    .spent_on = SpentOn::kDeviceIdle};

}  // namespace xlaprof
