#include "analyzers/report/summary.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "analyzers/analyzer.h"
#include "analyzers/policy.h"
#include "analyzers/quantity.h"
#include "analyzers/report/metric_groups.h"
#include "analyzers/run/capture.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/step_periods.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/work_unit.h"
#include "base/metric_names.h"
#include "base/whole.h"
#include "profiler/store/events.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

// Select the rows of table compile whose program came from a cache, and all others.
constexpr std::string_view kIsLoad = "coalesce(persistent_hit, 0)",
                           kIsCompile = "NOT coalesce(persistent_hit, 0)";

// All times of compilation. Those that failed took time, too, but only logs tell of them.
constexpr const char* kCompilations =
    "(SELECT ts_ns, dur_ns, dur_from, persistent_hit FROM compile UNION ALL SELECT ts_ns, dur_ns, "
    "'log', 0 FROM compile_failure)";

// Adds the tracing and input time of each process's leading thread in its window.
absl::Status HostTotals(const Run& run, const std::map<int64_t, Interval>& windows,
                        Summary& summary) {
  for (const auto& [process, window] : windows) {
    XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(process));
    if (!host->has_events()) continue;
    const auto totals = host->TotalsDuring(window);
    summary.tracing_ns = summary.tracing_ns.value_or(0) + totals[size_t(Doing::kTracing)];
    summary.input_ns = summary.input_ns.value_or(0) + totals[size_t(Doing::kInput)];
  }
  return absl::OkStatus();
}

// Returns the time of the copies that have one, inside these bounds, or nothing if none has. A copy
// from the device waits for the work that makes its data, and the time in which a device works is no
// part of the copy.
absl::StatusOr<OptInt> TransferTime(const Run& run, int64_t from_ns, int64_t to_ns) {
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  XP_TRY(const DeviceTimes* devices, run.Get<DeviceTimes>());
  OptInt sum_ns;
  for (const TransferRow& row : transfers->rows) {
    if (!row.ts_ns || !row.dur_ns) continue;
    const Interval time{std::max(*row.ts_ns, from_ns), std::min(*row.ts_ns + *row.dur_ns, to_ns)};
    int64_t waiting_ns = 0;
    if (row.direction == Direction::kFromDevice && time.length_ns() > 0) {
      for (const DeviceTime& device : devices->devices)
        waiting_ns = std::max(waiting_ns, Overlap(device.busy, time));
    }
    sum_ns = sum_ns.value_or(0) + std::max<int64_t>(0, time.length_ns() - waiting_ns);
  }
  return sum_ns;
}

absl::Status TotalsFromEvents(const Run& run, const std::map<int64_t, Interval>& windows,
                              Summary& summary) {
  XP_TRY(HostTotals(run, windows, summary));
  // Rows without a start are outside the window of the sources with a clock, and those of a log may be.
  // If the chosen part or the window cuts a row, only the part inside counts.
  int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
  for (const auto& [process_id, window] : windows) {
    from_ns = std::min(from_ns, window.begin_ns);
    to_ns = std::max(to_ns, window.end_ns);
  }
  if (windows.empty()) from_ns = INT64_MIN, to_ns = INT64_MAX;
  from_ns = std::max(from_ns, run.slice().from_ns.value_or(INT64_MIN));
  to_ns = std::min(to_ns, run.slice().to_ns.value_or(INT64_MAX));
  auto total = [&](const char* table, std::string_view which = "true") {
    return run.store().One<int64_t>(
        fmt::format("SELECT iif(count(*) = 0, NULL, CAST(total(max(0, min(ts_ns + dur_ns, ?2) - "
                    "max(ts_ns, ?1))) AS INTEGER)) FROM {} WHERE ts_ns IS NOT NULL AND dur_ns IS "
                    "NOT NULL AND {}",
                    table, which),
        from_ns, to_ns);
  };
  XP_TRY(summary.compile_ns, total(kCompilations, kIsCompile));
  XP_TRY(summary.load_ns, total("compile", kIsLoad));
  XP_TRY(summary.execute_ns, total("execution"));
  XP_TRY(summary.transfer_ns, TransferTime(run, from_ns, to_ns));
  if (!summary.execute_ns) summary.execute_ns = summary.device_busy_ns;
  if (summary.tracing_ns) {  // the host's threads were recorded, so nothing seen means 0
    if (!summary.compile_ns) summary.compile_ns = 0;
    if (!summary.transfer_ns) summary.transfer_ns = 0;
  }
  return absl::OkStatus();
}

std::optional<int64_t> Sum(const MetricsState& state, std::initializer_list<const char*> names) {
  std::optional<int64_t> out;
  for (const char* name : names) {
    const MetricState* metric = state.Find(name);
    if (metric && metric->unit == MetricUnit::kNs) out = out.value_or(0) + Whole(metric->sum);
  }
  return out;
}

std::optional<int64_t> Samples(const MetricsState& state,
                               std::initializer_list<const char*> names) {
  std::optional<int64_t> out;
  for (const char* name : names) {
    if (const MetricState* metric = state.Find(name)) out = out.value_or(0) + metric->samples;
  }
  return out;
}

std::initializer_list<const char*> TransferMetrics(const MetricsState& state) {
  return Samples(state, kUploadMetrics) ? kTransferMetrics : kTransferOrValueMetrics;
}

void TotalsFromMetrics(const MetricsState& last, Summary& summary) {
  if (const MetricState* tracing = last.Find(metric_names::kLazyTracing);
      tracing && tracing->unit == MetricUnit::kNs)
    summary.tracing_ns = Whole(TracingNs(*tracing));
  summary.compile_ns = Sum(last, kCompileMetrics);
  summary.execute_ns = Sum(last, kExecuteMetrics);
  summary.transfer_ns = Sum(last, TransferMetrics(last));
}

// Returns whether some source told how long anything took in all.
bool HasTotals(const Summary& summary) {
  return summary.tracing_ns || summary.compile_ns || summary.execute_ns || summary.transfer_ns;
}

// Sets the totals from logs of compilations, if no other source has times.
absl::Status TotalsFromLogs(const Run& run, Summary& summary) {
  auto total = [&](std::string_view which) {
    return run.store().One<int64_t>(
        fmt::format("SELECT iif(count(dur_ns) = 0, NULL, CAST(total(dur_ns) AS INTEGER)) FROM {} "
                    "WHERE dur_from = 'log' AND {}",
                    kCompilations, which));
  };
  XP_TRY(summary.compile_ns, total(kIsCompile));
  XP_TRY(summary.load_ns, total(kIsLoad));
  XP_TRY(summary.tracing_ns, run.store().One<int64_t>("SELECT sum(trace_ns) FROM compile"));
  XP_TRY(summary.execute_ns, run.store().One<int64_t>("SELECT sum(dur_ns) FROM execution"));
  summary.totals_from_logs = summary.compile_ns || summary.tracing_ns || summary.execute_ns;
  XP_TRY(
      const auto later,
      run.store().One<int64_t>(
          "SELECT count(*) FROM compile c LEFT JOIN step s ON s.id = c.step_id WHERE s.ordinal IS "
          "NULL OR s.ordinal >= ?1",
          int64_t(policy::kMinWarmUpSteps)));
  summary.compiles_at_start = later.value_or(0) == 0;
  return absl::OkStatus();
}

// Takes counts from a report that has only the counters. Each execution looked up its graph once.
absl::Status CountsFromCounters(const Run& run, int64_t report_id, Summary& summary) {
  constexpr int64_t kMostCounted = int64_t{1} << 60;  // damaged reports may claim any number
  auto value = [&](const char* name) {
    return run.store().One<int64_t>("SELECT value FROM counter WHERE report_id = ?1 AND name = ?2",
                                    report_id, name);
  };
  XP_TRY(auto compiled, value(metric_names::kUncachedCompile));
  XP_TRY(auto cached, value(metric_names::kCachedCompile));
  if (!summary.compile_count) TakeMore(summary.compile_count, compiled);
  if (compiled && cached && !summary.execution_count)
    summary.execution_count = std::min(*compiled, kMostCounted) + std::min(*cached, kMostCounted);
  return absl::OkStatus();
}

// Sets the counts. A count is unknown, not 0, if no source could have shown it: without a clock, or
// in a trace that shows nothing of a runtime that compiles. The queries use total(), because sum()
// fails if hostile numbers overflow.
absl::Status Counts(const Run& run, const Metrics& metrics, bool clock, Summary& summary) {
  XP_TRY(summary.load_count, run.store().One<int64_t>(fmt::format(
                                 "SELECT nullif(count(*), 0) FROM compile WHERE {}", kIsLoad)));
  // If all programs were loaded, the number of compilations is known to be 0.
  XP_TRY(summary.compile_count,
         run.store().One<int64_t>(
             fmt::format("SELECT iif(count(*) = 0, NULL, sum({})) FROM compile", kIsCompile)));
  XP_TRY(summary.execution_count,
         run.store().One<int64_t>("SELECT nullif(count(*), 0) FROM execution"));
  XP_TRY(summary.transfer_count,
         run.store().One<int64_t>("SELECT nullif(count(*), 0) FROM transfer"));
  if (clock && (summary.compile_count || summary.execution_count)) {
    for (auto* count : {&summary.compile_count, &summary.execution_count, &summary.transfer_count})
      *count = count->value_or(0);
  }
  // A read cuts the graph, moves a value or is counted. Calls of jitted and compiled functions tell
  // nothing of reads, and neither does a log of compilations.
  XP_TRY(
      const auto shows_reads,
      run.store().One<bool>(
          "SELECT EXISTS (SELECT 1 FROM execution WHERE cause NOT IN ('call', "
          "'compiled_function')) OR EXISTS (SELECT 1 FROM compile WHERE cause NOT IN ('call', "
          "'operation', 'compiled_function')) OR EXISTS (SELECT 1 FROM transfer) OR EXISTS (SELECT "
          "1 FROM fallback) OR EXISTS (SELECT 1 FROM counter WHERE name <> 'CachedCompile') OR "
          "EXISTS (SELECT 1 FROM profiler_line)"));
  summary.shows_reads = shows_reads.value_or(false);
  // Counters and the lines of exit summaries (with or without the op) describe the same calls.
  XP_TRY(
      summary.fallback_count,
      run.store().One<int64_t>(
          fmt::format(
              "WITH calls AS (SELECT process_id, op, op IN ({}) AS is_read, max(total(iif(stack_id "
              "IS NULL, count, 0)), total(iif(stack_id IS NULL, 0, count))) AS n FROM fallback "
              "GROUP BY process_id, op), ran AS (SELECT max(total(iif(is_read = 0, n, 0)), "
              "total(iif(op IS NULL, n, 0)) - total(iif(is_read, n, 0))) AS n FROM calls GROUP BY "
              "process_id) SELECT nullif(CAST(total(n) AS INTEGER), 0) FROM ran",
              SqlNamesWith(OpTrait::kOneNumber))));
  if (!metrics.last) return absl::OkStatus();
  TakeMore(summary.compile_count, Samples(*metrics.last, kCompileMetrics));
  TakeMore(summary.execution_count, Samples(*metrics.last, kExecuteMetrics));
  XP_TRY(CountsFromCounters(run, metrics.last->report_id, summary));
  TakeMore(summary.transfer_count, Samples(*metrics.last, TransferMetrics(*metrics.last)));
  return absl::OkStatus();
}

// Finds work after the steps. In an asynchronous program, the host's steps may be far shorter than
// the work that they launch.
void WorkAfterSteps(const Steps& steps, const DeviceTime& device, OptInt step_ns,
                    Summary::Device& out) {
  int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN, count = 0;
  for (const StepSpan& step : steps.all) {
    if (step.process_id != device.process_id || !step.ts_ns || !step.dur_ns) continue;
    begin_ns = std::min(begin_ns, *step.ts_ns);
    end_ns = std::max(end_ns, *step.ts_ns + *step.dur_ns);
    ++count;
  }
  const int64_t after_ns = device.span().end_ns - end_ns;
  if (count == 0 || !step_ns || after_ns <= policy::kStepsOfLaterWork * *step_ns) return;
  const int64_t busy_ns = Overlap(device.busy, {begin_ns, device.span().end_ns}) / count;
  // If the host waits in its steps, it does not queue their work, so later work has another origin.
  if (double(busy_ns) < policy::kLaterWorkOfStep * double(*step_ns)) return;
  out.after_steps_ns = after_ns;
  out.busy_a_step_ns = busy_ns;
}

absl::StatusOr<HiddenWaits> HiddenWaitsOf(const Run& run) {
  XP_TRY(const Contents* contents, run.Get<Contents>());
  if (contents->events == 0) return HiddenWaits::kNone;
  XP_TRY(const Framework framework, FrameworkOf(run));
  if (framework != Framework::kJax) return HiddenWaits::kNone;
  XP_TRY(const CaptureSettings* settings, run.Get<CaptureSettings>());
  return settings->python_tracer ? HiddenWaits::kOfArrayMethod : HiddenWaits::kAll;
}

// Returns nothing if only one process has steps.
std::optional<Summary::ProcessSteps> ProcessStepsOf(const Steps& steps) {
  std::map<int64_t, int64_t> by_process;
  for (const StepSpan& step : steps.all) ++by_process[step.process_id];
  if (by_process.size() < 2) return {};
  const auto [least, most] = std::ranges::minmax(by_process | std::views::values);
  return Summary::ProcessSteps{
      .processes = int64_t(by_process.size()), .least = least, .most = most};
}

}  // namespace

absl::StatusOr<Summary> Summarize(const Run& run) {
  Summary summary;
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  XP_TRY(const CaptureWindows* captured, run.Get<CaptureWindows>());
  const std::map<int64_t, Interval>& windows = captured->by_process;
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());

  if (!steps->all.empty()) {
    summary.steps = int64_t(steps->all.size());
    summary.warm_up_steps = steps->warm_up;
    summary.process_steps = ProcessStepsOf(*steps);
  } else if (metrics->last && metrics->last->mark_step) {
    summary.steps = metrics->last->mark_step;
  }
  if (steps->timed > 0) summary.timed_steps = steps->timed;
  XP_TRY(const StepPeriods* periods, run.Get<StepPeriods>());
  summary.has_step_periods = !periods->steady.empty();
  summary.steady_steps = int64_t(steps->steady_ns.size());
  summary.step_p50_ns = Median(steps->steady_ns);
  summary.step_p99_ns = NearestRank(steps->steady_ns, 99);
  summary.warm_up_step_p50_ns = Median(steps->warm_up_ns);
  XP_TRY(const WorkUnit* unit, run.Get<WorkUnit>());
  summary.unit = unit->program;

  for (const DeviceTime& device : times->devices) {
    summary.devices.push_back({device.label, device.busy_ns, device.span().length_ns()});
    WorkAfterSteps(*steps, device, summary.step_p50_ns, summary.devices.back());
    summary.device_busy_ns = summary.device_busy_ns.value_or(0) + device.busy_ns;
    summary.device_idle_ns =
        summary.device_idle_ns.value_or(0) + device.span().length_ns() - device.busy_ns;
  }
  std::optional<Interval> window;
  for (const auto& [process, w] : windows) {
    if (!window) window = w;
    window->begin_ns = std::min(window->begin_ns, w.begin_ns);
    window->end_ns = std::max(window->end_ns, w.end_ns);
  }
  if (window) {
    summary.wall_ns = window->length_ns();
    // Only the first step of the run shows how long the start took. A capture may begin later.
    if (!steps->all.empty() && steps->all.front().ts_ns && steps->all.front().dur_ns) {
      summary.time_to_first_step_ns =
          *steps->all.front().ts_ns + *steps->all.front().dur_ns - window->begin_ns;
    }
  }
  XP_TRY(Counts(run, *metrics, window.has_value(), summary));
  std::string totals_note;
  if (window) {
    XP_TRY(TotalsFromEvents(run, windows, summary));
    if (metrics->last)
      totals_note = "this file gives the times; counts come from the file that saw most";
  } else {
    // A report of metrics may hold only counts, as that of TorchTPU's cache does.
    if (metrics->last) TotalsFromMetrics(*metrics->last, summary);
    if (!HasTotals(summary)) XP_TRY(TotalsFromLogs(run, summary));
  }
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  summary.optimized_programs = std::ranges::any_of(graphs->by_id, [](const auto& graph) {
    return graph.second.printed_as == PrintedForm::kHloOptimized;
  });
  XP_TRY(const auto torch_compile,
         run.store().One<int64_t>("SELECT count(*) FROM (SELECT 1 FROM compile WHERE cause = "
                                  "'compiled_function' UNION ALL SELECT 1 FROM dynamo_recompile "
                                  "UNION ALL SELECT 1 FROM graph_break UNION ALL SELECT 1 FROM "
                                  "compile_failure)"));
  summary.torch_compile = torch_compile.value_or(0) > 0;
  XP_TRY(const auto lazy_runtime,
         run.store().One<int64_t>(
             "SELECT EXISTS(SELECT 1 FROM recording WHERE process_id IN (SELECT process_id FROM "
             "graph) OR process_id IN (SELECT process_id FROM untied_weight) OR process_id IN "
             "(SELECT process_id FROM loader_epoch))"));
  summary.lazy_runtime = lazy_runtime.value_or(0) > 0;
  XP_TRY(summary.hidden_waits, HiddenWaitsOf(run));
  XP_TRY(summary.coverage, CoverageOf(run, totals_note));
  return summary;
}

}  // namespace xlaprof
