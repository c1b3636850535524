// Finds steps that wait for training data: time that the leading thread spends in the input
// pipeline (or between two steps while a loader works), as a part of the steady time.
#include <algorithm>
#include <map>

#include "analyzers/activity/device_time.h"
#include "analyzers/activity/host_activity.h"
#include "analyzers/activity/steps.h"
#include "analyzers/analyzer.h"
#include "analyzers/evidence/scope_place.h"
#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

// XProf's two thresholds (parts of the step time): "highly" and "moderately" input bound.
constexpr double kHighShare = 0.20;
constexpr double kModerateShare = 0.05;
// Waiting in fewer steps than this is a hiccup (an epoch's end, a cold cache), not a bound.
constexpr double kMinStepsShare = 0.5;
// In a step, waiting shorter than this part of the median step is not counted as waiting.
constexpr double kMinStepShare = 0.01;

// Where the steps ask for their data: the line at which the most of them end in a loader.
absl::Status FillLoaderLine(const Store& store, int64_t process, Subject& subject) {
  return store.Each(
      "SELECT s.file, s.line, s.function FROM execution e JOIN site s ON s.id = e.site_id WHERE "
      "coalesce(e.process_id, 0) = ?1 AND e.cause = 'parallel_loader' GROUP BY s.id ORDER BY "
      "count(*) DESC, s.id LIMIT 1",
      [&](OptText file, OptInt line, OptText function) {
        subject.file = std::move(file), subject.line = line;
        subject.function = std::move(function);
      },
      process);
}

// PyTorch's profiler names the iterator of a DataLoader, and so how it loads.
absl::StatusOr<std::string> Advice(const Store& store) {
  XP_TRY(auto loader,
         store.One<std::string>("SELECT text FROM string WHERE text LIKE 'enumerate(DataLoader)#%' "
                                "AND text LIKE '%Process%DataLoaderIter%' ORDER BY text LIKE "
                                "'%SingleProcess%' DESC LIMIT 1"));
  if (!loader) {
    return "Load ahead: more loader workers, a deeper prefetch (MpDeviceLoader's "
           "loader_prefetch_size and device_prefetch_size), cheaper or cached preprocessing.";
  }
  if (loader->find("SingleProcess") != std::string::npos) {
    return "The loader works on the step's own thread (num_workers=0): load ahead with "
           "DataLoader(num_workers=N, persistent_workers=True, pin_memory=True).";
  }
  return "The loader's workers come late: DataLoader with more num_workers or a larger "
         "prefetch_factor, cheaper or cached preprocessing.";
}

absl::StatusOr<Findings> Run(const Store& store) {
  Findings findings;
  XP_TRY(Steps steps, LoadSteps(store));
  std::map<int64_t, std::vector<Interval>>
      periods;  // by process: from the end of a step to the end of the next
  for (const StepSpan& step : steps.all) {
    if (!step.steady()) continue;
    std::vector<Interval>& of = periods[step.process_id];
    const int64_t end_ns = *step.ts_ns + *step.dur_ns;
    const int64_t begin_ns = of.empty() ? *step.ts_ns : std::min(*step.ts_ns, of.back().end_ns);
    if (end_ns > begin_ns && (of.empty() || end_ns > of.back().end_ns)) {
      of.push_back({of.empty() ? begin_ns : of.back().end_ns, end_ns});
    }
  }
  struct Worst {
    int64_t process = 0, wait_ns = 0, window_ns = 0, waited_steps = 0, steps = 0;
    std::vector<std::pair<int64_t, Interval>> longest;
    Activity activity;  // most of the waiting
  };
  std::optional<Worst> worst;
  const int64_t median = Median(steps.steady_ns).value_or(0);
  for (const auto& [process, of] : periods) {
    if (of.empty()) continue;
    const Interval window{of.front().begin_ns, of.back().end_ns};
    XP_TRY(auto host, HostTimeline::Of(store, process));
    if (!host->has_events()) continue;
    Worst sum{.process = process, .window_ns = window.length_ns(), .steps = int64_t(of.size())};
    std::map<Activity, int64_t> scopes;
    HostTimeline::Walk walk(*host);
    for (const Interval& period : of) {
      int64_t wait = 0;
      for (const ActivityShare& share : walk.During(period)) {
        if (share.activity.doing != Doing::kInput) continue;
        wait += share.ns;
        scopes[share.activity] += share.ns;
      }
      sum.wait_ns += wait;
      if (double(wait) > kMinStepShare * double(median)) ++sum.waited_steps;
      if (wait > 0) sum.longest.emplace_back(wait, period);
    }
    int64_t most = 0;
    for (const auto& [activity, ns] : scopes) {
      if (ns > most) most = ns, sum.activity = activity;
    }
    if (!worst || sum.wait_ns > worst->wait_ns) worst = std::move(sum);
  }
  if (!worst || worst->window_ns <= 0) return findings;
  const double share = double(worst->wait_ns) / double(worst->window_ns);
  if (share < kModerateShare) return findings;
  const bool repeats =
      double(worst->waited_steps) >= kMinStepsShare * double(worst->steps) && worst->steps >= 2;
  Finding finding{.severity = repeats ? Severity::kWarning : Severity::kInfo,
                  .count = worst->waited_steps,
                  .per_step = double(worst->waited_steps) / double(worst->steps),
                  .cost_ns = worst->wait_ns};
  finding.title =
      fmt::format("{} input bound: {:.0f} % of the steady time is waiting for data ({} a step)",
                  share >= kHighShare ? "highly" : "moderately", 100 * share,
                  DurationText(worst->wait_ns / std::max<int64_t>(1, worst->steps)));
  finding.cost_note = fmt::format("time of the step's thread in the input pipeline, in {}",
                                  Plural(worst->steps, "steady step"));
  finding.reason = Reason{.type = share >= kHighShare ? ReasonType::kHigh : ReasonType::kModerate};
  if (!repeats)
    finding.reason->text =
        fmt::format("only {} of {} steps waited", worst->waited_steps, worst->steps);
  if (worst->activity.scope != 0)
    finding.subject.scope = std::string(ScopeText(store, worst->activity));
  XP_TRY(FillLoaderLine(store, worst->process, finding.subject));
  if (!finding.subject.file) XP_TRY(FillScopePlace(store, worst->activity.scope, finding.subject));
  XP_TRY(finding.advice, Advice(store));
  std::stable_sort(worst->longest.begin(), worst->longest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (worst->longest.size() > 5) worst->longest.resize(5);
  for (const auto& [ns, period] : worst->longest) {
    finding.evidence.push_back({.table = "step",
                                .ts_ns = period.begin_ns,
                                .dur_ns = period.length_ns(),
                                .text = fmt::format("{} of {} waiting for data", DurationText(ns),
                                                    DurationText(period.length_ns()))});
  }
  findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

extern const Analyzer input_bound{
    .name = "input_bound",
    .summary = "steps that wait for training data",
    .looks_at = "steps with times and the host's input events",
    .run = Run,
    .needs = Needs::kTimedSteps,
    .is_from_timeline = true};

}  // namespace xlaprof
