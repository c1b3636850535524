// Reads PT_XLA_DEBUG logs. debug_blocks.cc describes what they look like, debug_segments.cc where a
// run begins.
#include "profiler/import/log/debug_rows.h"
#include "profiler/import/log/dialect.h"
#include "profiler/import/torch_xla/debug_blocks.h"

namespace xlaprof {
namespace {

constexpr std::string_view kDebugMarks[] = {"Analysis:", "pt-xla-profiler", "Unlowered Op usage",
                                            "FRAME (count=", "IR graph hash "};

int SniffDebugLog(std::string_view window) {
  auto has = [&](std::string_view text) { return window.find(text) != std::string_view::npos; };
  if (has("Compilation Analysis: ====") || has("Execution Analysis: ====") ||
      has("Execution Analysis: Execution Cause") ||
      has("Compilation Analysis: Compilation Cause")) {
    return 95;
  }
  // These markers are left in a log after a filter or a cut.
  for (std::string_view label :
       {"Graph Hash: ", "Number of Graph ", "Python Frame Triggered", "Graph input size:"}) {
    size_t at = window.find(label);
    if (at != std::string_view::npos && window.substr(0, at).ends_with("Analysis:   ")) return 90;
    if (at != std::string_view::npos && window.substr(0, at).ends_with("Analysis: ")) return 90;
  }
  // A log of the C++ code may hold a metrics report as well.
  if (has("Compiling IR graph hash ") || has("Executing IR graph hash ")) return 93;
  if (has("pt-xla-profiler: ") || has("Unlowered Op usage summary") ||
      has("pt-xla-profiler:FRAME (count=") || has("\nFRAME (count="))
    return 85;
  return has("pt-xla-profiler") || has("Computation hash: ") ? 5 : 0;
}

class DebugLogReader : public DialectReader {
 public:
  explicit DebugLogReader(LogReading& reading)
      : reading_(reading), parser_(reading.texts), writer_(log_, reading) {}

  void Take() override { parser_.Take(); }
  void End() override {
    log_ = std::move(parser_).Finish();
    run_of_fact_ = SegmentsOf(log_);
  }
  bool Found() const override { return !log_.facts.empty(); }

  absl::Status Refuse() const override {
    const Input& input = reading_.input;
    for (const char* marker : {"Compilation Analysis:", "Execution Analysis:", "pt-xla-profiler:",
                               "Unlowered Op usage summary", "FRAME (count="}) {
      if (input.bytes.find(marker) == std::string_view::npos) continue;
      return Invalid(
          "{}: none of its {} lines belongs to a complete PT_XLA_DEBUG block. It contains '{}', but its blocks are cut, and their beginning (cause, graph, first frames) is missing. Use the file of PT_XLA_DEBUG_FILE itself, or copy from one line of '=' to the next, or name the format with --as",
          input.path, reading_.texts.number(), marker);
    }
    return Invalid(
        "{}: none of its {} lines is output of PT_XLA_DEBUG. xlaprof looked for 'Compilation Analysis:' and 'Execution Analysis:' blocks, 'pt-xla-profiler:' lines, 'Unlowered Op usage summary' and, with TF_CPP_VMODULE, 'Compiling IR graph hash … on device', 'Executing IR graph hash … on device'. Run with PT_XLA_DEBUG_LEVEL=2 (and PT_XLA_DEBUG_FILE), or name the format with --as",
        input.path, reading_.texts.number());
  }

  absl::Status WriteIssues() override { return writer_.WriteIssues(); }

  absl::Status FindRuns() override {
    if (!Found()) return absl::OkStatus();
    for (size_t i = 0; i < log_.facts.size(); ++i) {
      while (reading_.runs.last() < run_of_fact_[i]) reading_.runs.Begin(log_.facts[i].line);
    }
    reading_.runs.SetKnown();
    return absl::OkStatus();
  }

  std::vector<LogPlace> Facts() const override {
    std::vector<LogPlace> places;
    places.reserve(log_.facts.size());
    for (size_t i = 0; i < log_.facts.size(); ++i)
      places.push_back({log_.facts[i].line, run_of_fact_[i]});
    return places;
  }
  absl::Status Write(size_t fact, int run) override { return writer_.Write(log_.facts[fact], run); }

 private:
  LogReading& reading_;
  DebugLogParser parser_;
  DebugLog log_;
  std::vector<int> run_of_fact_;  // SegmentsOf
  DebugWriter writer_;
};

}  // namespace

extern const Dialect debug_log{
    .name = "debug_log",
    .summary =
        "torch_xla with PT_XLA_DEBUG, PT_XLA_DEBUG_LEVEL or TF_CPP_VMODULE: why graphs were cut and compiled",
    .example = "pt_xla_debug.log",
    .sniff = SniffDebugLog,
    .marks = kDebugMarks,
    .read = MakeReader<DebugLogReader>,
    .framework = Framework::kPytorchXla,
    .kind = SourceKind::kLog,
    .ends_with_numbers = true};

}  // namespace xlaprof
