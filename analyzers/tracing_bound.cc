// Finds programs that spend about as long making graphs as a step takes, or longer than the device
// is busy: then the device waits for Python, whatever else is done. From the host's events; from
// LazyTracing's samples without a clock.
#include <algorithm>
#include <map>

#include "analyzers/activity/device_idle.h"
#include "analyzers/activity/host_activity.h"
#include "analyzers/activity/steps.h"
#include "analyzers/analyzer.h"
#include "analyzers/evidence/capture_settings.h"
#include "analyzers/evidence/metrics.h"
#include "analyzers/quantity.h"
#include "core/base/whole.h"

namespace xlaprof {
namespace {

// "About the step time": within 5 % of it, the rule that torchprime's users asked for (issue 149).
constexpr double kOfStep = 0.95;
// Tracing above the device's busy time bounds a step only if it is a real part of it (XProf's
// "moderate").
constexpr double kMinOfStep = 0.05;
constexpr int64_t kMinSteps = 2;  // one step may be anything

struct Traced {
  int64_t steps = 0, tracing_ns = 0, step_ns = 0;
  int64_t scopes_ns = 0;               // of tracing_ns: in scopes of the user's around it
  std::optional<int64_t> occupied_ns;  // busy, or inside an execution
  int64_t busy_ns = 0;
  Interval window;
};

// Time in which the host records ops or turns them into programs, in the steady steps of one
// process.
absl::StatusOr<std::optional<Traced>> FromEvents(const Store& store, const Steps& steps,
                                                 const CaptureSettings& settings) {
  std::optional<Traced> worst;
  XP_TRY(std::vector<DeviceIdle> devices, LoadDeviceIdle(store, steps));
  std::vector<int64_t> processes;
  for (const StepSpan& step : steps.all) {
    if (processes.empty() || processes.back() != step.process_id)
      processes.push_back(step.process_id);
  }
  for (int64_t process : processes) {
    // Steps that compile trace for it: that is recompilation's.
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
    XP_TRY(auto host, HostTimeline::Of(store, process));
    if (!host->has_events()) continue;
    std::map<StringId, int64_t> in_scope;
    HostTimeline::Walk walk(*host);
    for (const Interval& period : usual) {
      traced.step_ns += period.length_ns();
      for (const ActivityShare& share : walk.During(period)) {
        if (share.activity.doing == Doing::kTracing) traced.tracing_ns += share.ns;
        if (share.activity.doing == Doing::kUserCode) in_scope[share.activity.scope] += share.ns;
      }
    }
    // A user's scope in which the graphs' ops were recorded is tracing, as far as these ops can
    // explain its time.
    for (const auto& [scope, ns] : in_scope) {
      traced.scopes_ns += std::min(ns, traced.steps * settings.TracingBoundNs(store.Text(scope)));
    }
    traced.tracing_ns += traced.scopes_ns;
    for (const DeviceIdle& device : devices) {
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

Finding Conclude(const Traced& traced) {
  Finding finding{.severity = Severity::kWarning, .cost_ns = traced.tracing_ns};
  const int64_t per_step = traced.tracing_ns / std::max<int64_t>(1, traced.steps);
  finding.count = traced.steps;
  finding.per_step = 1;
  finding.title =
      fmt::format("tracing{} {} a step, {:.0f} % of the step time",
                  traced.scopes_ns > 0 ? " and the scopes around it take" : " takes",
                  DurationText(per_step), 100 * double(traced.tracing_ns) / double(traced.step_ns));
  if (traced.occupied_ns) {
    finding.title += fmt::format("; the device is busy {} a step",
                                 DurationText(traced.busy_ns / std::max<int64_t>(1, traced.steps)));
  }
  finding.cost_note = fmt::format("time of the step's thread in tracing{}, in {}",
                                  traced.scopes_ns > 0 ? " and in scopes that trace" : "",
                                  Plural(traced.steps, "steady step"));
  if (traced.occupied_ns && traced.tracing_ns > *traced.occupied_ns) {
    finding.saving_ns = traced.tracing_ns - *traced.occupied_ns;
    finding.saving_note =
        "tracing above the time of the device's executions: what a step could lose at most";
  }
  finding.reason = Reason{.type = double(traced.tracing_ns) >= kOfStep * double(traced.step_ns)
                                      ? ReasonType::kAboutTheStepTime
                                      : ReasonType::kAboveDeviceBusyTime};
  finding.advice =
      "Trace once instead of in every step: torch_xla.compile or jax.jit over the whole step, scan "
      "for repeated "
      "layers; or give the device more work a step (larger batch, several steps in one graph).";
  return finding;
}

// Part of the wall time of its recent samples: a time metric's rate is time per second.
std::optional<double> ShareOfWall(const MetricState& metric) {
  if (!metric.value_rate || metric.sum <= 0) return {};
  return *metric.value_rate / 1e9 * std::min(1.0, TracingNs(metric) / metric.sum);
}

absl::StatusOr<Findings> Run(const Store& store) {
  Findings findings;
  XP_TRY(Steps steps, LoadSteps(store));
  XP_TRY(CaptureSettings settings, LoadCaptureSettings(store));
  std::optional<Finding> finding;
  XP_TRY(auto traced, FromEvents(store, steps, settings));
  if (traced) {
    const bool about_step = double(traced->tracing_ns) >= kOfStep * double(traced->step_ns);
    const bool above_busy = traced->occupied_ns && traced->tracing_ns > *traced->occupied_ns &&
                            double(traced->tracing_ns) >= kMinOfStep * double(traced->step_ns);
    if (traced->steps >= kMinSteps && (about_step || above_busy)) {
      finding = Conclude(*traced);
      finding->evidence.push_back({.table = "step",
                                   .ts_ns = traced->window.begin_ns,
                                   .dur_ns = traced->window.length_ns(),
                                   .text = "the steady steps"});
    }
  } else if (steps.timed == 0) {
    XP_TRY(Metrics metrics, LoadMetrics(store));
    const MetricsState* state = metrics.steady();
    const MetricState* tracing = state ? state->Find("LazyTracing") : nullptr;
    const MetricState* execute = state ? state->Find("ExecuteTime") : nullptr;
    // ExecuteTime runs from the call until the device is done, so it is at least the busy time.
    if (tracing && execute && state->mark_step.value_or(0) >= kMinSteps && execute->samples > 0 &&
        TracingNs(*tracing) > execute->sum && ShareOfWall(*tracing).value_or(1) >= kMinOfStep) {
      const int64_t marks = *state->mark_step;
      Finding f{.severity = Severity::kWarning,
                .count = marks,
                .per_step = 1,
                .cost_ns = Whole(TracingNs(*tracing))};
      f.title = fmt::format("tracing takes {} a step, execution {}",
                            DurationText(Whole(TracingNs(*tracing)) / marks),
                            DurationText(Whole(execute->sum) / marks));
      if (auto share = ShareOfWall(*tracing))
        f.title += fmt::format("; about {:.0f} % of the wall time", 100 * *share);
      f.cost_note = fmt::format(
          "LazyTracing's recent samples without the slowest 5 %, times its {} samples; calls "
          "inside "
          "calls count twice",
          tracing->samples);
      f.reason =
          Reason{.type = ReasonType::kAboveDeviceBusyTime,
                 .text = "From metrics alone; step times would tell whether it bounds the step."};
      f.advice = Conclude({.steps = 1, .step_ns = 1}).advice;
      for (const MetricState* m : {state->Find("LazyTracing"), state->Find("ExecuteTime")}) {
        const MetricState* cited = metrics.last->Find(m == tracing ? "LazyTracing" : "ExecuteTime");
        f.evidence.push_back({.table = "metric",
                              .rows = {cited->id},
                              .text = fmt::format("{}: {} in {} samples",
                                                  m == tracing ? "LazyTracing" : "ExecuteTime",
                                                  DurationText(Whole(m->sum)), m->samples)});
      }
      finding = std::move(f);
    }
  }
  if (!finding) return findings;
  if (settings.slow_tracing()) {
    finding->severity = Severity::kInfo;
    finding->reason->type = ReasonType::kCaptureSettings;
    finding->reason->text =
        fmt::format("The capture's own settings slow tracing down: {}. Record again without them.",
                    settings.Text());
  }
  findings.push_back(std::move(*finding));
  return findings;
}

}  // namespace

extern const Analyzer tracing_bound{
    .name = "tracing_bound",
    .summary = "steps that wait for the host to make graphs",
    .looks_at = "the host's events and steps, else LazyTracing and ExecuteTime",
    .run = Run,
    .needs = Needs::kTimedStepsOrTracing,
    .is_from_timeline = true};

}  // namespace xlaprof
