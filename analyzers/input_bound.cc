// Finds steps that wait for training data. This is the time that the leading thread spends in the
// input pipeline, or between two steps while a loader works, as a part of the steady time. A loader
// may fetch several batches at once, so the time counts, and not the number of steps that wait.
#include "analyzers/input_bound.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/host_samples.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/launches.h"
#include "analyzers/run/scopes.h"
#include "analyzers/run/step_periods.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "base/whole.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxLongestWaits = 5;

// Returns the line at which most of the process's steps end in a loader, or an empty subject.
absl::StatusOr<Subject> LineOfLoader(const Run& run, int64_t process) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  std::map<int64_t, int64_t> steps_at;  // by site
  for (const ExecutionRow& row : executions->rows) {
    if (row.process_id.value_or(0) == process && row.cause == CutKind::kParallelLoader &&
        sites->Find(row.site_id) != nullptr)
      ++steps_at[*row.site_id];
  }
  return sites->MostFrequent(steps_at);
}

// Returns how the program's DataLoader loads, judged by the name of its iterator in PyTorch's
// profile.
DataLoading LoadingOf(const Contents& contents) {
  if (!contents.data_loader) return DataLoading::kUnknown;
  return contents.data_loader->find("SingleProcess") != std::string::npos
             ? DataLoading::kInStepThread
             : DataLoading::kInWorkers;
}

// The waits of one process's steps for data.
struct Waits {
  int64_t process = 0, wait_ns = 0, window_ns = 0, waited_steps = 0, steps = 0;
  int64_t longest_ns = 0;                             // for one batch; or all waits of one step
  std::optional<int64_t> idle_ns;                     // waits during which the device was idle
  int64_t last_wait = 0;                              // 1: the first step
  std::vector<std::pair<int64_t, Interval>> longest;  // wait and step, longest wait first
  Activity activity;                                  // the longest part of the waits
};

// Returns the longest of the waits in a process's only step.
int64_t LongestIn(const Interval& step, const HostTimeline& host) {
  int64_t longest_ns = 0;
  for (const Interval& wait : host.WaitsForData(step))
    longest_ns = std::max(longest_ns, wait.length_ns());
  return longest_ns;
}

// Returns how long the busiest of the process's devices was idle in `period`; nothing if no device
// was recorded.
std::optional<int64_t> IdleIn(const Interval& period, const IdleTime& idle, int64_t process) {
  std::optional<int64_t> least_ns;
  for (const DeviceIdle& device : idle.devices) {
    if (device.time.process_id != process || !device.takes_part) continue;
    const int64_t ns = Overlap(device.gaps, period);
    least_ns = std::min(least_ns.value_or(ns), ns);
  }
  return least_ns;
}

Waits WaitsIn(const std::vector<Interval>& periods, const HostTimeline& host, const IdleTime& idle,
              int64_t process, int64_t median_step_ns) {
  const Interval window{periods.front().begin_ns, periods.back().end_ns};
  Waits waits{
      .process = process, .window_ns = window.length_ns(), .steps = int64_t(periods.size())};
  std::map<Activity, int64_t> scopes;
  HostTimeline::Walk walk(host);
  for (size_t i = 0; i < periods.size(); ++i) {
    int64_t wait_ns = 0;
    for (const ActivityShare& share : walk.During(periods[i])) {
      if (share.activity.doing != Doing::kInput) continue;
      wait_ns += share.ns;
      scopes[share.activity] += share.ns;
    }
    waits.wait_ns += wait_ns;
    waits.longest_ns = std::max(waits.longest_ns, wait_ns);
    if (const auto idle_ns = IdleIn(periods[i], idle, process))
      waits.idle_ns = waits.idle_ns.value_or(0) + std::min(wait_ns, *idle_ns);
    if (double(wait_ns) > policy::kWaitShareOfStep * double(median_step_ns)) {
      ++waits.waited_steps;
      waits.last_wait = int64_t(i) + 1;
    }
    if (wait_ns > 0) waits.longest.emplace_back(wait_ns, periods[i]);
  }
  if (periods.size() == 1) waits.longest_ns = LongestIn(periods.front(), host);
  int64_t most_ns = 0;
  for (const auto& [activity, ns] : scopes) {
    if (ns > most_ns) most_ns = ns, waits.activity = activity;
  }
  std::stable_sort(waits.longest.begin(), waits.longest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (waits.longest.size() > kMaxLongestWaits) waits.longest.resize(kMaxLongestWaits);
  return waits;
}

int64_t MedianLength(const std::vector<Interval>& periods) {
  std::vector<int64_t> lengths;
  for (const Interval& period : periods) lengths.push_back(period.length_ns());
  std::ranges::sort(lengths);
  return Median(lengths).value_or(0);
}

// Returns the waits of the process that waits longest, or nothing if no host was recorded.
absl::StatusOr<std::optional<Waits>> WorstWaits(const Run& run) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const StepPeriods* step_periods, run.Get<StepPeriods>());
  XP_TRY(const IdleTime* idle, run.Get<IdleTime>());
  std::optional<Waits> worst;
  for (const auto& [process, periods] : step_periods->steady) {
    if (periods.empty()) continue;
    XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(process));
    if (!host->has_events()) continue;
    Waits waits = WaitsIn(periods, *host, *idle, process,
                          Median(steps->steady_ns).value_or(MedianLength(periods)));
    if (!worst || waits.wait_ns > worst->wait_ns) worst = std::move(waits);
  }
  return worst;
}

// Divides the longest wait by the batches that other threads loaded in it. A loader that works ahead
// lets one step wait for several batches.
absl::Status DivideByBatches(const Run& run, Waits& waits) {
  if (waits.longest.empty() || waits.steps < policy::kNotOnce) return absl::OkStatus();
  const Store& store = run.store();
  const StringId input = store.Find(TextOf(Category::kInput));
  if (input == 0) return absl::OkStatus();
  const StringId waits_for_loader = store.Find(NamesOfCalls(CallTrait::kWaitsForLoader).front());
  const Interval& period = waits.longest.front().second;
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory,
                                .from_ns = period.begin_ns,
                                .to_ns = period.end_ns,
                                .categories = {input}};
  XP_TRY(options.track_ids, HostThreads(run, waits.process));
  XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(waits.process));
  std::erase(options.track_ids, host->leading_thread());
  if (options.track_ids.empty()) return absl::OkStatus();
  int64_t batches = 0, longest_ns = 0;
  XP_TRY(EachEvent(store, std::move(options), [&](const EventBatch& events, size_t i) {
    const Interval load{std::max(events.ts_ns[i], period.begin_ns),
                        std::min(events.ts_ns[i] + events.dur_ns[i], period.end_ns)};
    if (events.category[i] != input || events.name[i] == waits_for_loader || load.length_ns() <= 0)
      return;
    ++batches;
    longest_ns = std::max(longest_ns, load.length_ns());
  }));
  if (batches < policy::kNotOnce || longest_ns >= waits.longest_ns) return absl::OkStatus();
  waits.longest_ns = longest_ns;
  waits.last_wait = std::min(waits.steps, waits.last_wait + batches - 1);
  return absl::OkStatus();
}

// Judges the waits without the longest one if it is most of them, because anything may happen once.
WaitPattern PatternOf(const Waits& waits) {
  const double rest_ns = double(waits.wait_ns - waits.longest_ns);
  if (2 * waits.longest_ns > waits.wait_ns &&
      rest_ns < policy::kInputShare * double(waits.window_ns - waits.longest_ns))
    return WaitPattern::kMostlyOneWait;
  const double quiet_steps = double(waits.steps - waits.last_wait);
  if (quiet_steps >= policy::kStepsWithoutWaitShare * double(waits.steps))
    return WaitPattern::kStopped;
  return WaitPattern::kRepeats;
}

// Returns whether nothing shows that the loader's workers are late.
bool AreReadyBatches(const Waits& waits, const InputBoundFigures& figures) {
  return figures.loading == DataLoading::kInWorkers && figures.pattern == WaitPattern::kRepeats &&
         figures.share < policy::kHighInputShare &&
         waits.wait_ns <= policy::kReadyBatchNs * waits.steps;
}

absl::StatusOr<Subject> SubjectOf(const Run& run, const Waits& waits,
                                  std::span<const Interval> periods) {
  XP_TRY(Subject subject, LineOfLoader(run, waits.process));
  Subject code;
  XP_TRY(const bool is_placed, FillUserCode(run, waits.activity, code));
  subject.scope = code.scope;
  if (!subject.file && is_placed) subject.SetPlace(code.place());
  if (subject.file) return subject;
  XP_TRY(const HostSamples* samples, run.Get<HostSamples>(waits.process));
  const std::optional<SampledFunction> function = samples->FunctionIn(periods, Doing::kInput);
  if (function && function->samples >= policy::kFewestSamples) subject.SetPlace(function->place);
  return subject;
}

Reason ReasonOf(const InputBoundFigures& figures) {
  return {.type =
              figures.share >= policy::kHighInputShare ? ReasonType::kHigh : ReasonType::kModerate};
}

// Returns the shortest idle time of the process's devices, as a share of their steady time; nothing if
// no device was recorded.
absl::StatusOr<std::optional<double>> IdleShare(const Run& run, int64_t process) {
  XP_TRY(const IdleTime* idle, run.Get<IdleTime>());
  std::optional<double> least;
  for (const DeviceIdle& device : idle->devices) {
    if (device.time.process_id == process && device.takes_part)
      least = std::min(least.value_or(1.0), device.idle_share());
  }
  return least;
}

// Returns the least share of the time that so many of the samples are likely to stand for: the lower
// end of the interval that holds the true share in 19 of 20 cases, by the normal approximation.
double LeastShare(int64_t samples, int64_t examined) {
  const double share = double(samples) / double(examined);
  return share - 1.64 * std::sqrt(share * (1 - share) / double(examined));
}

// Returns how many steps a process made from its profile on. The observer may have counted several
// step marks for each step that the other sources know.
absl::StatusOr<int64_t> StepsSinceProfile(const Run& run, const ObservedProcessRow& process) {
  if (!process.steps || !process.profile_first_step) return 0;
  XP_TRY(const StepCounts* counts, run.Get<StepCounts>());
  const int64_t observed = *process.steps, known = counts->Of(process.process_id.value_or(0));
  const int64_t since = std::max<int64_t>(0, observed - *process.profile_first_step);
  return known > 0 && known < observed ? since * known / observed : since;
}

// Finds waits that only sampled stacks show. They cover the time from the profile on, which was begun
// when the program was steady.
absl::StatusOr<Findings> FindSampledWaits(const Run& run) {
  Findings findings;
  XP_TRY(const ObservedProcesses* processes, run.Get<ObservedProcesses>());
  for (const ObservedProcessRow& process : processes->rows) {
    if (!process.profile_ts_ns) continue;
    const int64_t id = process.process_id.value_or(0);
    const Interval steady{*process.profile_ts_ns, process.ts_ns + process.dur_ns};
    XP_TRY(const HostSamples* samples, run.Get<HostSamples>(id));
    const HostSamples::Total total = samples->TotalIn({{steady}});
    const HostSamples::Total::Part &all = total.all, &loading = total.Of(Doing::kInput);
    if (all.samples < policy::kFewestLoaderSamples || all.ns <= 0) continue;
    InputBoundFigures figures{.share = double(loading.ns) / double(all.ns),
                              .loader_samples = loading.samples,
                              .samples = all.samples};
    if (LeastShare(loading.samples, all.samples) < policy::kInputShare) continue;
    XP_TRY(figures.steps, StepsSinceProfile(run, process));
    // A wait costs nothing while the device works on what was queued before.
    XP_TRY(const std::optional<double> idle_share, IdleShare(run, id));
    const double lost_share = std::min(figures.share, idle_share.value_or(1.0));
    if (idle_share) figures.idle_ns = Whole(lost_share * double(all.ns));
    Finding finding{.needs_fixing = lost_share >= policy::kInputShare, .cost_ns = loading.ns};
    if (finding.needs_fixing) finding.saving_ns = Whole(lost_share * double(all.ns));
    finding.reason = ReasonOf(figures);
    if (const auto function = samples->FunctionIn({{steady}}, Doing::kInput))
      finding.subject.SetPlace(function->place);
    finding.evidence.push_back(
        {.table = "host_sample", .ts_ns = steady.begin_ns, .dur_ns = steady.length_ns()});
    finding.figures = std::move(figures);
    if (findings.empty() || *findings.front().cost_ns < *finding.cost_ns)
      findings = {std::move(finding)};
  }
  return findings;
}

absl::StatusOr<Findings> FindInputBound(const Run& run) {
  Findings findings;
  XP_TRY(std::optional<Waits> worst, WorstWaits(run));
  if (!worst || worst->wait_ns <= 0) return FindSampledWaits(run);
  if (worst->window_ns <= 0) return findings;
  XP_TRY(DivideByBatches(run, *worst));
  InputBoundFigures figures{.share = double(worst->wait_ns) / double(worst->window_ns),
                            .steps = worst->steps,
                            .idle_ns = worst->idle_ns,
                            .pattern = PatternOf(*worst),
                            .longest_ns = worst->longest_ns,
                            .last_wait = worst->last_wait};
  if (figures.share < policy::kInputShare) return findings;
  XP_TRY(const Contents* contents, run.Get<Contents>());
  figures.loading = LoadingOf(*contents);
  if (AreReadyBatches(*worst, figures)) figures.pattern = WaitPattern::kReadyBatches;

  XP_TRY(const StepPeriods* periods, run.Get<StepPeriods>());
  figures.by_batch = periods->by_batch.contains(worst->process);
  // A wait costs nothing while the device works on what was queued before.
  const int64_t lost_ns = worst->idle_ns.value_or(worst->wait_ns);
  const bool repeats = figures.pattern == WaitPattern::kRepeats &&
                       double(lost_ns) >= policy::kInputShare * double(worst->window_ns);
  Finding finding{.needs_fixing = repeats,
                  .count = worst->waited_steps,
                  .may_be_once = !figures.by_batch && worst->steps == 1,
                  .cost_ns = worst->wait_ns};
  if (!figures.by_batch) finding.per_step = double(worst->waited_steps) / double(worst->steps);
  if (repeats) finding.saving_ns = lost_ns;
  finding.reason = ReasonOf(figures);
  XP_TRY(finding.subject, SubjectOf(run, *worst, periods->steady.at(worst->process)));
  for (const auto& [wait_ns, period] : worst->longest) {
    figures.waits_ns.push_back(wait_ns);
    finding.evidence.push_back({.table = figures.by_batch ? "event" : "step",
                                .ts_ns = period.begin_ns,
                                .dur_ns = period.length_ns()});
  }
  finding.figures = std::move(figures);
  findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

extern const Analyzer input_bound{
    .name = "input_bound",
    .summary = "steps that wait for training data",
    .meaning =
        "Steps wait for training data. The leading thread is inside the input pipeline, or between two steps while a data loader works. If no event shows input, the stacks that `xlaprof run` sampled show it: those of the main thread that are in a library which loads data.",
    .looks_at = "steps with times, or executions of steps, and the host's input events",
    .find = FindInputBound,
    .say = SayInputBound,
    .needs = Needs::kStepPeriods,
    .thresholds = {policy::kInputShare, policy::kFewestBatches, policy::kHighInputShare,
                   policy::kReadyBatchNs, policy::kStepsWithoutWaitShare, policy::kWaitShareOfStep,
                   policy::kFewestLoaderSamples, policy::kFewestSamples},
    .is_from_timeline = true};

}  // namespace xlaprof
