#include "analyzers/report/verdict.h"

#include <algorithm>

#include "analyzers/kinds.h"
#include "analyzers/quantity.h"
#include "analyzers/report/report_words.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {

// Returns the busiest device, if even that idles for most of its time.
static const Summary::Device* BusiestIfIdle(const Summary& summary) {
  const Summary::Device* busiest = nullptr;
  const auto share = [](const Summary::Device& of) {
    return double(of.busy_ns) / double(of.span_ns);
  };
  for (const Summary::Device& device : summary.devices) {
    // A CPU's profile only has the ops that its client times.
    if (device.span_ns <= 0 || device.name.starts_with("CPU")) continue;
    if (share(device) >= policy::kBusyDeviceShare) return nullptr;
    if (busiest == nullptr || share(device) > share(*busiest)) busiest = &device;
  }
  return busiest;
}

// Returns how the command failed, or "".
static std::string FailureText(const Report& report) {
  const std::optional<ObservedCommand>& command = report.command;
  if (!command || command->exit_status.value_or(0) == 0) return "";
  return EndText(command->exit_status, command->signal);
}

// Returns whether the program was killed, or ended in a way that runs no handlers. The exit status of
// the command tells how the program ended, even if one of its child processes has no end.
static bool HasNoEnd(const Report& report) {
  if (report.command && report.command->exit_status) return false;
  return !report.killed.threads.empty() ||
         std::ranges::any_of(report.observed,
                             [](const Observed& observed) { return !observed.row.ended; });
}

Verdict VerdictWithoutWarnings(const Report& report) {
  const Summary& s = report.summary;
  Verdict verdict;
  verdict.judged = s.steps.value_or(0) + s.compile_count.value_or(0) + s.load_count.value_or(0) +
                           s.execution_count.value_or(0) + s.transfer_count.value_or(0) +
                           s.fallback_count.value_or(0) >
                       0 ||
                   s.compile_ns.value_or(0) > 0 || s.execute_ns.value_or(0) > 0 ||
                   !s.devices.empty() || !std::ranges::all_of(report.findings, IsAboutCapture);
  const auto open = std::ranges::find_if(
      report.findings, [](const Finding& finding) { return finding.words.is_open_question; });
  const Summary::Device* idle = BusiestIfIdle(s);
  if (!verdict.judged && !report.top_ops.devices.empty())
    verdict.text =
        "No device was recorded, so only the ops of the host that take most of the time are listed above.";
  else if (!verdict.judged)
    verdict.text = "Too little was read to judge: no compilation, execution, transfer or step.";
  else if (open != report.findings.end())
    verdict.text =
        fmt::format("No check gave a warning, but one question is open: {}.", open->words.title);
  else if (const std::string failure = FailureText(report); !failure.empty())
    verdict.text = fmt::format("No check gave a warning, but {}.", failure);
  else if (HasNoEnd(report))
    verdict.text =
        "No check gave a warning, but the end of the program was not recorded, so it was probably killed. The report names where it was last.";
  else if (idle != nullptr)
    verdict.text = fmt::format(
        "No check gave a warning, but {} was idle for {} of {}. Nothing in these files shows a change that would help; the findings below say what is known of the host.",
        idle->name, PercentText(1 - double(idle->busy_ns) / double(idle->span_ns)),
        DurationText(idle->span_ns));
  else
    verdict.text = "Nothing found that needs fixing: no check gave a warning.";
  constexpr std::string_view kLost[] = {issue_codes::kCutFile, issue_codes::kDamagedCoding,
                                        issue_codes::kUnreadableFile, issue_codes::kInvalidJson};
  const bool lost = std::ranges::any_of(report.issues, [&](const ReportIssue& issue) {
    return std::ranges::find(kLost, issue.code) != std::end(kLost);
  });
  if (lost)
    verdict.text +=
        " Part of the input could not be read (see the end), and the missing part may hold more findings.";
  return verdict;
}

static std::string_view TextOf(HiddenWaits hidden) {
  switch (hidden) {
    case HiddenWaits::kNone:
      return "";
    case HiddenWaits::kOfArrayMethod:
      return "JAX's profile does not record the method x.block_until_ready(), so waits by it were not found. It does record jax.block_until_ready(x).";
    case HiddenWaits::kAll:
      return "JAX's profile does not record block_until_ready, so waits by it were not found. With python_tracer_level=1, it records jax.block_until_ready(x) and its line.";
  }
  return "";
}

Checks ChecksOf(const Summary& summary, const Findings& findings) {
  const bool timeline = summary.wall_ns.has_value(), devices = !summary.devices.empty(),
             steps = summary.timed_steps.value_or(0) > 0;
  auto can = [&](Needs needs) {
    switch (needs) {
      case Needs::kNothing:
        return true;
      case Needs::kReads:
        return timeline || summary.shows_reads;
      case Needs::kDevices:
        return devices;
      case Needs::kStepPeriods:
        return timeline && (steps || summary.has_step_periods);
      case Needs::kTimedStepsOrTracing:
        return (timeline && steps) || summary.tracing_ns.has_value();
      case Needs::kTimelineOrCompileTimes:
        return timeline || summary.compile_ns.has_value();
      case Needs::kTimelineOrExecuteTimes:
        return timeline || summary.execute_ns.has_value();
      case Needs::kOptimizedPrograms:
        return devices && summary.optimized_programs;
      case Needs::kTorchCompile:
        return summary.torch_compile;
      case Needs::kLazyRuntime:
        return summary.lazy_runtime;
    }
    return true;
  };
  // A check that found something was made, for example from XLA's alarms.
  auto found = [&](const Analyzer* analyzer) {
    return std::ranges::any_of(
        findings, [&](const Finding& finding) { return finding.analyzer == analyzer; });
  };
  Checks checks;
  for (const Analyzer* analyzer : AllAnalyzers()) {
    if (can(analyzer->needs) || found(analyzer)) {
      checks.made.push_back(analyzer);
    } else if (IsNamedWithout(analyzer->needs)) {
      checks.not_made.push_back(analyzer);
    }
  }
  for (const Analyzer* analyzer : checks.made) {
    const std::string_view text = TextOf(summary.hidden_waits);
    if (analyzer == &sync_point && !text.empty())
      checks.limits.push_back({analyzer, std::string(text)});
  }
  checks.why = !timeline ? "no timeline in these files"
               : devices ? "no step has times"
               : steps   ? "no work of a device has times"
                         : "no step and no work of a device has times";
  return checks;
}

}  // namespace xlaprof
