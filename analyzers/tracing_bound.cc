// Finds programs that spend about as long making graphs as a step takes, or longer than the device
// is busy. The device then waits for Python, whatever else is improved. The times come from the
// host's events, or else, without a clock, from the samples of LazyTracing.
#include "analyzers/tracing_bound.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/work_unit.h"
#include "base/metric_names.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

struct Traced {
  int64_t steps = 0, tracing_ns = 0, step_ns = 0;
  int64_t scopes_ns = 0;               // the part of tracing_ns in the user's scopes
  std::optional<int64_t> occupied_ns;  // busy, or inside an execution
  int64_t busy_ns = 0;
  Interval window;
};

// Returns the time in which the host records ops or makes programs of them, in the steady steps of
// one process.
absl::StatusOr<std::optional<Traced>> FromEvents(const Run& run, const Steps& steps,
                                                 const CaptureSettings& settings) {
  std::optional<Traced> worst;
  XP_TRY(const IdleTime* idle_time, run.Get<IdleTime>());
  std::vector<int64_t> processes;
  for (const StepSpan& step : steps.all) {
    if (processes.empty() || processes.back() != step.process_id)
      processes.push_back(step.process_id);
  }
  for (int64_t process : processes) {
    // Steps that compile are left out, because recompilation causes their tracing.
    std::vector<Interval> usual;
    for (const StepSpan& step : steps.all) {
      if (step.process_id == process && step.steady() && !step.compiles && *step.dur_ns > 0) {
        usual.push_back({*step.ts_ns, *step.ts_ns + *step.dur_ns});
      }
    }
    Traced traced{.steps = int64_t(usual.size())};
    usual = Union(std::move(usual));
    if (usual.empty()) continue;
    traced.window = {usual.front().begin_ns, usual.back().end_ns};
    XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(process));
    if (!host->has_events()) continue;
    std::map<StringId, int64_t> in_scope;
    HostTimeline::Walk walk(*host);
    for (const Interval& period : usual) {
      traced.step_ns += period.length_ns();
      for (const ActivityShare& share : walk.During(period)) {
        if (share.activity.doing == Doing::kTracing) traced.tracing_ns += share.ns;
        if (share.activity.doing == Doing::kUserCode &&
            share.activity.named_by != NamedBy::kFunction)
          in_scope[share.activity.scope] += share.ns;
      }
    }
    // A user's scope that records ops of graphs counts as tracing, for as long as these ops may
    // take.
    for (const auto& [scope, ns] : in_scope) {
      traced.scopes_ns +=
          std::min(ns, traced.steps * settings.TracingBoundNs(run.store().Text(scope)));
    }
    traced.tracing_ns += traced.scopes_ns;
    for (const DeviceIdle& device : idle_time->devices) {
      if (device.time.process_id != process) continue;
      int64_t occupied_ns = 0, busy_ns = 0;
      for (const Interval& period : usual) {
        occupied_ns += Overlap(device.occupied, period);
        busy_ns += Overlap(device.time.busy, period);
      }
      traced.occupied_ns = std::max(traced.occupied_ns.value_or(0), occupied_ns);
      traced.busy_ns = std::max(traced.busy_ns, busy_ns);
    }
    if (!worst || traced.tracing_ns > worst->tracing_ns) worst = traced;
  }
  return worst;
}

// Concludes from the steady steps whether tracing bounds them.
std::optional<Finding> OnTimeline(const Traced& traced, TracingBoundFigures& figures) {
  const bool about_step =
      double(traced.tracing_ns) >= policy::kTracingOfStep * double(traced.step_ns);
  const bool above_occupied = traced.occupied_ns && traced.tracing_ns > *traced.occupied_ns;
  const bool above_busy =
      above_occupied &&
      double(traced.tracing_ns) >= policy::kLeastTracingOfStep * double(traced.step_ns);
  if (traced.steps < policy::kNotOnce || !(about_step || above_busy)) return {};
  TracingOnTimeline seen{.step_ns = traced.step_ns, .in_scopes = traced.scopes_ns > 0};
  if (traced.occupied_ns) seen.busy_ns = traced.busy_ns;
  figures.seen = seen;
  Finding finding{
      .needs_fixing = true, .count = traced.steps, .per_step = 1, .cost_ns = traced.tracing_ns};
  if (above_occupied) finding.saving_ns = traced.tracing_ns - *traced.occupied_ns;
  finding.reason =
      Reason{.type = about_step ? ReasonType::kAboutTheStepTime : ReasonType::kAboveDeviceBusyTime};
  finding.evidence.push_back(
      {.table = "step", .ts_ns = traced.window.begin_ns, .dur_ns = traced.window.length_ns()});
  return finding;
}

// Returns the part of the wall time that tracing took while the last samples were taken. A time metric's
// rate is time per second.
std::optional<double> ShareOfLastSamples(const MetricState& metric) {
  if (!metric.value_rate || metric.sum <= 0) return {};
  return *metric.value_rate / 1e9 * std::min(1.0, TracingNs(metric) / metric.sum);
}

// Returns whether a time is a considerable part of what a report of the whole run counts. If it is
// not, something else is the finding, such as recompilation.
bool IsLargePart(const MetricsState& whole, double ns) {
  double all_ns = 0;
  for (const char* name :
       {metric_names::kCompileTime, metric_names::kExecuteTime, metric_names::kLazyTracing}) {
    const MetricState* metric = whole.Find(name);
    if (metric) all_ns += name == metric_names::kLazyTracing ? TracingNs(*metric) : metric->sum;
  }
  return ns >= policy::kLeastTracingOfStep * all_ns;
}

// Concludes from torch_xla's metrics whether tracing bounds the steps that they count.
absl::StatusOr<std::optional<Finding>> InMetrics(const Run& run, TracingBoundFigures& figures) {
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  const MetricsState* state = metrics->steady();
  const MetricState* tracing = state ? state->Find(metric_names::kLazyTracing) : nullptr;
  const MetricState* execute = state ? state->Find(metric_names::kExecuteTime) : nullptr;
  if (!tracing || !execute || execute->samples <= 0) return std::nullopt;
  const int64_t marks = state->mark_step.value_or(0);
  const double tracing_ns = TracingNs(*tracing);
  XP_TRY(const ObservedProcesses* observed, run.Get<ObservedProcesses>());
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  const OptInt process_ns = observed->rows.empty() ? OptInt() : times->longest();
  const std::optional<double> share =
      process_ns ? tracing_ns / double(*process_ns) : ShareOfLastSamples(*tracing);
  // ExecuteTime lasts from the call until the device is done, so it is at least the busy time.
  const bool above_busy = tracing_ns > execute->sum;
  const bool matters = share.value_or(1) >= policy::kLeastTracingOfStep;
  if (marks < policy::kNotOnce || !above_busy || !matters) return std::nullopt;
  TracingInMetrics seen{.tracing_sum_ns = Whole(tracing->sum),
                        .tracing_samples = tracing->samples,
                        .execute_sum_ns = Whole(execute->sum),
                        .execute_samples = execute->samples,
                        .share = share,
                        .process_ns = process_ns};
  // Uploads for different executions cannot be joined.
  const MetricState* uploads = state->Find(metric_names::kOutboundData);
  const double turns = double(std::max(marks, execute->samples));
  if (uploads && double(uploads->samples) / turns >= policy::kUploadsOneByOne)
    seen.uploads_per_step = double(uploads->samples) / double(marks);
  figures.seen = seen;
  Finding finding{.needs_fixing = IsLargePart(*metrics->last, tracing_ns),
                  .count = marks,
                  .per_step = 1,
                  .cost_ns = Whole(tracing_ns)};
  finding.reason = Reason{.type = ReasonType::kAboveDeviceBusyTime};
  for (const char* name : {metric_names::kLazyTracing, metric_names::kExecuteTime})
    finding.evidence.push_back({.table = "metric", .rows = {metrics->last->Find(name)->id}});
  return finding;
}

absl::StatusOr<Findings> FindTracingBound(const Run& run) {
  Findings findings;
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const CaptureSettings* settings, run.Get<CaptureSettings>());
  TracingBoundFigures figures{.settings = *settings};
  std::optional<Finding> finding;
  XP_TRY(auto traced, FromEvents(run, *steps, *settings));
  if (traced) {
    finding = OnTimeline(*traced, figures);
  } else if (steps->timed == 0) {
    XP_TRY(finding, InMetrics(run, figures));
  }
  if (!finding) return findings;
  if (settings->slow_tracing() || settings->may_slow_tracing) {
    finding->needs_fixing = false;
    finding->reason->type = ReasonType::kCaptureSettings;
  }
  finding->figures = figures;
  findings.push_back(std::move(*finding));
  return findings;
}

}  // namespace

extern const Analyzer tracing_bound{
    .name = "tracing_bound",
    .summary = "steps that wait for the host to make graphs",
    .meaning =
        "Making graphs on the host takes about as long as a step, or longer than the device works. A faster device would change nothing.",
    .looks_at = "the host's events and steps, else LazyTracing and ExecuteTime",
    .find = FindTracingBound,
    .say = SayTracingBound,
    .needs = Needs::kTimedStepsOrTracing,
    .thresholds = {policy::kTracingOfStep, policy::kLeastTracingOfStep, policy::kNotOnce,
                   policy::kTracedOperationNs, policy::kUploadsOneByOne},
    .is_from_timeline = true};

}  // namespace xlaprof
