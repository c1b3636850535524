#include "analyzers/tracing_bound.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/words/slow_settings.h"

namespace xlaprof {
namespace {

std::string Title(const Finding& finding, const TracingOnTimeline& seen, Framework) {
  std::string title = fmt::format("tracing{} {} per step, {:.0f} % of the step time",
                                  seen.in_scopes ? " and the scopes around it take" : " takes",
                                  DurationText(*finding.cost_ns / *finding.count),
                                  100 * double(*finding.cost_ns) / double(seen.step_ns));
  if (seen.busy_ns)
    title += fmt::format("; the device is busy {} per step",
                         DurationText(*seen.busy_ns / *finding.count));
  return title;
}

// Returns "tracing takes 2 ms per step, execution 1 ms". LazyTracing does not count the time in Python.
std::string Title(const Finding& finding, const TracingInMetrics& seen, Framework framework) {
  std::string title = fmt::format("tracing takes {} per step{}, execution {}",
                                  DurationText(*finding.cost_ns / *finding.count),
                                  framework == Framework::kCpp ? "" : " in C++ alone",
                                  DurationText(seen.execute_sum_ns / *finding.count));
  if (!seen.share) return title;
  title += fmt::format("; about {:.0f} % of the ", 100 * *seen.share);
  return title + (seen.process_ns
                      ? fmt::format("{} that the process ran", DurationText(*seen.process_ns))
                      : "time when it was last measured");
}

std::string Why(const Finding& finding, const TracingBoundFigures& figures) {
  if (finding.reason->type == ReasonType::kCaptureSettings)
    return fmt::format(
        "The capture's own settings slow tracing down: {}. Record again without them.",
        SlowSettingsText(figures.settings));
  const auto* metrics = std::get_if<TracingInMetrics>(&figures.seen);
  if (metrics == nullptr) return "";
  if (metrics->uploads_per_step)
    return fmt::format(
        "The host makes and uploads {:.3g} tensors in each step, one by one, which is a part of it.",
        *metrics->uploads_per_step);
  return "Only metrics show this. Step times would show whether tracing bounds the step.";
}

std::string CostNote(const Finding& finding, const TracingOnTimeline& seen) {
  return fmt::format("time of the step's thread in tracing{}, in {}",
                     seen.in_scopes ? " and in scopes that trace" : "",
                     Plural(*finding.count, "steady step"));
}

std::string CostNote(const Finding&, const TracingInMetrics& seen) {
  return fmt::format(
      "recent values of LazyTracing without the slowest 5 %, times its {} values; nested calls count twice",
      seen.tracing_samples);
}

std::string SavingNote(const Finding& finding) {
  return finding.saving_ns
             ? "the tracing time beyond the device's executions, which is the most that a step could save"
             : "";
}

std::string Advice(const TracingBoundFigures& figures, Framework framework) {
  const auto* metrics = std::get_if<TracingInMetrics>(&figures.seen);
  return fmt::format(
      "{}{} Or give the device more work per step (a larger batch, several steps in one graph).",
      metrics && metrics->uploads_per_step
          ? "Upload once: join the small tensors on the CPU, and then call .to(device). "
          : "",
      framework == Framework::kJax
          ? "Trace once instead of in every step: use jax.jit over the whole step, and jax.lax.scan for repeated layers."
      : framework == Framework::kCpp
          ? "The lazy runtime records each operation in every step, so record fewer: one operation on a stacked tensor instead of a loop over small ones."
          : "torch_xla.compile records the operations in every call, too. To trace once, compile the model with torch.compile(backend='openxla'), and use torch_xla's scan for repeated layers.");
}

std::vector<std::string> EvidenceLines(const TracingOnTimeline&) { return {"the steady steps"}; }

std::vector<std::string> EvidenceLines(const TracingInMetrics& seen) {
  return {fmt::format("LazyTracing: {} in {} values", DurationText(seen.tracing_sum_ns),
                      seen.tracing_samples),
          fmt::format("ExecuteTime: {} in {} values", DurationText(seen.execute_sum_ns),
                      seen.execute_samples)};
}

}  // namespace

Words SayTracingBound(const Finding& finding, Framework framework) {
  const auto& figures = std::any_cast<const TracingBoundFigures&>(finding.figures);
  return std::visit(
      [&](const auto& seen) {
        return Words{.title = Title(finding, seen, framework),
                     .why = Why(finding, figures),
                     .cost_note = CostNote(finding, seen),
                     .saving_note = SavingNote(finding),
                     .advice = Advice(figures, framework),
                     .evidence = EvidenceLines(seen),
                     .tells_share = true};
      },
      figures.seen);
}

}  // namespace xlaprof
