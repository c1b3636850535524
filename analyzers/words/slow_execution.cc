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

Words WordsOf(const SlowExecutionFigures& figures, int64_t count) {
  const std::string longest = DurationText(figures.longest_ns);
  switch (figures.found) {
    case SlowExecutions::kTooLong:
      return {
          .title = fmt::format("{} of over {} each, the longest {}", Plural(count, "execution"),
                               DurationText(figures.threshold_ns), longest),
          .cost_note = "length of these executions on the device",
          .advice =
              "Look at the device's ops on the timeline. Split the graph if it holds several steps by mistake."};
    case SlowExecutions::kOutliers:
      return {
          .title = fmt::format(
              "{} of {} executions of {} took at least {:.0f} times the median ({}), the longest {}",
              count, figures.graph_executions, GraphText(figures), figures.outlier_factor,
              DurationText(figures.graph_median_ns), longest),
          .why =
              "The same graph usually takes less on this device. The cause may be other work on the machine, a first run, or waiting for another device.",
          .cost_note = "their length above the graph's median",
          .advice = "Look at what else ran at these times."};
    case SlowExecutions::kTooLongSamples:
      return {.title = fmt::format("about {} of over {} each, the longest seen {}",
                                   Plural(count, "execution"), DurationText(figures.threshold_ns),
                                   longest),
              .cost_note = "not measured, because metrics show only percentiles of recent values",
              .unseen = Unseen{"the device's ops", RecordingKind::kProfile}};
  }
  return {};
}

}  // namespace

Words SaySlowExecution(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const SlowExecutionFigures&>(finding.figures);
  Words words = WordsOf(figures, *finding.count);
  if (figures.found == SlowExecutions::kTooLongSamples) return words;  // its row names the metric
  for (const Evidence& evidence : finding.evidence)
    words.evidence.push_back(DurationText(*evidence.dur_ns));
  return words;
}

}  // namespace xlaprof
