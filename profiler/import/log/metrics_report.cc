// Reads metrics reports: one that metrics_report() returned, several pasted together, or a
// XLA_METRICS_FILE. torch_xla appends a report per save to that file, run after run.
// metrics_text.cc describes what reports look like.
#include "profiler/import/importer.h"
#include "profiler/import/log/program_output.h"

namespace xlaprof {
namespace {

// Returns whether a text holds "[MetricsData; step=7]"; texts about reports write N for the number.
bool HoldsSave(std::string_view window) {
  constexpr std::string_view kSave = "[MetricsData; step=";
  for (size_t at = window.find(kSave); at < window.size(); at = window.find(kSave, at + 1)) {
    const std::string_view number = window.substr(at + kSave.size(), 1);
    if (!number.empty() && number[0] >= '0' && number[0] <= '9') return true;
  }
  return false;
}

int SniffMetricsReport(std::string_view window) {
  auto has = [&](std::string_view text) { return window.find(text) != std::string_view::npos; };
  if (HoldsSave(window)) return 95;
  bool fields = has("TotalSamples: ") && (has("Accumulator: ") || has("Counter: "));
  if (has("Metric: ") && fields) return has("\n  TotalSamples: ") ? 92 : 80;
  // The window may hold counters only, or the end of a long report.
  size_t counter = window.find("Counter: ");
  if (counter != std::string_view::npos &&
      window.substr(counter, 300).find("Value: ") != std::string_view::npos)
    return 70;
  return has("Metric: ") && has("Percentiles: ") ? 60 : 0;
}

absl::Status ReadMetricsReport(const Input& input, ImportContext& context) {
  XP_TRY(RuntimeTextCounts counts, ReadRuntimeText(input, context));
  if (counts.debug_facts + counts.metric_entries > 0) return absl::OkStatus();
  return Invalid(
      "{}: none of its {} lines shows a metric. xlaprof looked for 'Metric: NAME' with 'TotalSamples:' and 'Accumulator:', and for 'Counter: NAME' with 'Value:'. Print torch_xla.debug.metrics.metrics_report(), or name the format with --as",
      input.path, counts.lines);
}

}  // namespace

extern const Importer metrics_report{
    .name = "metrics_report",
    .summary = "torch_xla: metrics_report() text, XLA_METRICS_FILE",
    .example = "metrics.txt",
    .sniff = SniffMetricsReport,
    .read = ReadMetricsReport,
    .framework = Framework::kPytorchXla};

}  // namespace xlaprof
