// Finds steps that wait for training data. This is the time that the leading thread spends in the
// input pipeline, or between two steps while a loader works, as a part of the steady time.
#include "analyzers/input_bound.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/scope_place.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"

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

// Returns the time of each process's steady steps: from the end of a step to the end of the next.
std::map<int64_t, std::vector<Interval>> PeriodsByProcess(const Steps& steps) {
  std::map<int64_t, std::vector<Interval>> periods;
  for (const StepSpan& step : steps.all) {
    if (!step.steady()) continue;
    std::vector<Interval>& of = periods[step.process_id];
    const int64_t end_ns = *step.ts_ns + *step.dur_ns;
    const int64_t begin_ns = of.empty() ? *step.ts_ns : std::min(*step.ts_ns, of.back().end_ns);
    if (end_ns > begin_ns && (of.empty() || end_ns > of.back().end_ns)) {
      of.push_back({of.empty() ? begin_ns : of.back().end_ns, end_ns});
    }
  }
  return periods;
}

// The waits of one process's steps for data.
struct Waits {
  int64_t process = 0, wait_ns = 0, window_ns = 0, waited_steps = 0, steps = 0;
  std::vector<std::pair<int64_t, Interval>> longest;  // wait and step, longest wait first
  Activity activity;                                  // the longest part of the waits
};

Waits WaitsIn(const std::vector<Interval>& periods, const HostTimeline& host, int64_t process,
              int64_t median_step_ns) {
  const Interval window{periods.front().begin_ns, periods.back().end_ns};
  Waits waits{
      .process = process, .window_ns = window.length_ns(), .steps = int64_t(periods.size())};
  std::map<Activity, int64_t> scopes;
  HostTimeline::Walk walk(host);
  for (const Interval& period : periods) {
    int64_t wait_ns = 0;
    for (const ActivityShare& share : walk.During(period)) {
      if (share.activity.doing != Doing::kInput) continue;
      wait_ns += share.ns;
      scopes[share.activity] += share.ns;
    }
    waits.wait_ns += wait_ns;
    if (double(wait_ns) > policy::kWaitShareOfStep * double(median_step_ns)) ++waits.waited_steps;
    if (wait_ns > 0) waits.longest.emplace_back(wait_ns, period);
  }
  int64_t most_ns = 0;
  for (const auto& [activity, ns] : scopes) {
    if (ns > most_ns) most_ns = ns, waits.activity = activity;
  }
  std::stable_sort(waits.longest.begin(), waits.longest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (waits.longest.size() > kMaxLongestWaits) waits.longest.resize(kMaxLongestWaits);
  return waits;
}

// Returns the waits of the process that waits longest, or nothing if no host was recorded.
absl::StatusOr<std::optional<Waits>> WorstWaits(const Run& run) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  const int64_t median_step_ns = Median(steps->steady_ns).value_or(0);
  std::optional<Waits> worst;
  for (const auto& [process, periods] : PeriodsByProcess(*steps)) {
    if (periods.empty()) continue;
    XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(process));
    if (!host->has_events()) continue;
    Waits waits = WaitsIn(periods, *host, process, median_step_ns);
    if (!worst || waits.wait_ns > worst->wait_ns) worst = std::move(waits);
  }
  return worst;
}

absl::StatusOr<Subject> SubjectOf(const Run& run, const Waits& waits) {
  XP_TRY(Subject subject, LineOfLoader(run, waits.process));
  if (waits.activity.scope != 0) subject.scope = std::string(ScopeText(run, waits.activity));
  if (!subject.file) XP_TRY(FillScopePlace(run, waits.activity.scope, subject));
  return subject;
}

absl::StatusOr<Findings> FindInputBound(const Run& run) {
  Findings findings;
  XP_TRY(std::optional<Waits> worst, WorstWaits(run));
  if (!worst || worst->window_ns <= 0) return findings;
  InputBoundFigures figures{.share = double(worst->wait_ns) / double(worst->window_ns),
                            .steps = worst->steps};
  if (figures.share < policy::kInputShare) return findings;
  figures.repeats =
      double(worst->waited_steps) >= policy::kStepsThatWaitShare * double(worst->steps) &&
      worst->steps >= policy::kNotOnce;
  XP_TRY(const Contents* contents, run.Get<Contents>());
  figures.loading = LoadingOf(*contents);

  Finding finding{.severity = figures.repeats ? Severity::kWarning : Severity::kInfo,
                  .count = worst->waited_steps,
                  .per_step = double(worst->waited_steps) / double(worst->steps),
                  .cost_ns = worst->wait_ns};
  finding.reason = Reason{.type = figures.share >= policy::kHighInputShare ? ReasonType::kHigh
                                                                           : ReasonType::kModerate};
  XP_TRY(finding.subject, SubjectOf(run, *worst));
  for (const auto& [wait_ns, period] : worst->longest) {
    figures.waits_ns.push_back(wait_ns);
    finding.evidence.push_back(
        {.table = "step", .ts_ns = period.begin_ns, .dur_ns = period.length_ns()});
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
        "Steps wait for training data. The leading thread is inside the input pipeline, or between two steps while a data loader works.",
    .looks_at = "steps with times and the host's input events",
    .find = FindInputBound,
    .say = SayInputBound,
    .needs = Needs::kTimedSteps,
    .thresholds = {policy::kInputShare, policy::kHighInputShare, policy::kStepsThatWaitShare,
                   policy::kWaitShareOfStep, policy::kNotOnce},
    .is_from_timeline = true};

}  // namespace xlaprof
