// The words of slow_execution.
#include "analyzers/slow_execution.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

std::string GraphText(const SlowExecutionFigures& figures) {
  constexpr size_t kHash = 12;  // digits that tell the hashes of one run apart
  if (!figures.graph.empty()) return fmt::format("`{}`", figures.graph);
  if (figures.graph_hash.empty()) return "a graph";
  return fmt::format("graph {}", figures.graph_hash.substr(0, kHash));
}

std::string Title(const SlowExecutionFigures& figures, int64_t count) {
  const std::string longest = DurationText(figures.longest_ns);
  switch (figures.found) {
    case SlowExecutions::kTooLong:
      return fmt::format("{} of over {} each, the longest {}", Plural(count, "execution"),
                         DurationText(figures.threshold_ns), longest);
    case SlowExecutions::kOutliers:
      return fmt::format(
          "{} of {} executions of {} took at least {:.0f} times the median ({}), the longest {}",
          count, figures.graph_executions, GraphText(figures), figures.outlier_factor,
          DurationText(figures.graph_median_ns), longest);
    case SlowExecutions::kTooLongSamples:
      return fmt::format("about {} of over {} each, the longest seen {}",
                         Plural(count, "execution"), DurationText(figures.threshold_ns), longest);
  }
  return "";
}

std::string Why(const SlowExecutionFigures& figures) {
  if (figures.found != SlowExecutions::kOutliers) return "";
  return "The same graph usually takes less on this device. The cause may be other work on the machine, a first run, or waiting for another device.";
}

std::string CostNote(const SlowExecutionFigures& figures) {
  switch (figures.found) {
    case SlowExecutions::kTooLong:
      return "length of these executions on the device";
    case SlowExecutions::kOutliers:
      return "their length above the graph's median";
    case SlowExecutions::kTooLongSamples:
      return "not measured, because metrics show only percentiles of recent values";
  }
  return "";
}

std::string_view Advice(const SlowExecutionFigures& figures) {
  switch (figures.found) {
    case SlowExecutions::kTooLong:
      return "Look at the device's ops on the timeline. Split the graph if it holds several steps by mistake.";
    case SlowExecutions::kOutliers:
      return "Look at what else ran at these times.";
    case SlowExecutions::kTooLongSamples:
      return "";
  }
  return "";
}

std::vector<std::string> EvidenceLines(const SlowExecutionFigures& figures,
                                       const Finding& finding) {
  std::vector<std::string> lines;
  if (figures.found == SlowExecutions::kTooLongSamples) return lines;  // its row names the metric
  for (const Evidence& evidence : finding.evidence) lines.push_back(DurationText(*evidence.dur_ns));
  return lines;
}

}  // namespace

Words SaySlowExecution(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const SlowExecutionFigures&>(finding.figures);
  const bool only_samples = figures.found == SlowExecutions::kTooLongSamples;
  return {.title = Title(figures, *finding.count),
          .why = Why(figures),
          .cost_note = CostNote(figures),
          .advice = std::string(Advice(figures)),
          .unseen = only_samples
                        ? std::optional(Unseen{"the device's ops", RecordingKind::kProfile})
                        : std::nullopt,
          .evidence = EvidenceLines(figures, finding)};
}

}  // namespace xlaprof
