// Reads PT_XLA_DEBUG logs. debug_blocks.cc describes what they look like, debug_segments.cc where a
// run begins.
#include "profiler/import/importer.h"
#include "profiler/import/text/cpu_notice.h"
#include "profiler/import/log/program_output.h"

namespace xlaprof {
namespace {

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

absl::Status ReadDebugLog(const Input& input, ImportContext& context) {
  XP_TRY(RuntimeTextCounts counts, ReadRuntimeText(input, context));
  XP_TRY(NoteWhereOnCpu(input.bytes, context.store, context.source_id));
  if (counts.debug_facts + counts.metric_entries > 0) return absl::OkStatus();
  for (const char* marker : {"Compilation Analysis:", "Execution Analysis:", "pt-xla-profiler:",
                             "Unlowered Op usage summary", "FRAME (count="}) {
    if (input.bytes.find(marker) == std::string_view::npos) continue;
    return Invalid(
        "{}: none of its {} lines belongs to a complete PT_XLA_DEBUG block. It contains '{}', but its blocks are cut, and their beginning (cause, graph, first frames) is missing. Use the file of PT_XLA_DEBUG_FILE itself, or copy from one line of '=' to the next, or name the format with --as",
        input.path, counts.lines, marker);
  }
  return Invalid(
      "{}: none of its {} lines is output of PT_XLA_DEBUG. xlaprof looked for 'Compilation Analysis:' and 'Execution Analysis:' blocks, 'pt-xla-profiler:' lines, 'Unlowered Op usage summary' and, with TF_CPP_VMODULE, 'Compiling IR graph hash … on device', 'Executing IR graph hash … on device'. Run with PT_XLA_DEBUG_LEVEL=2 (and PT_XLA_DEBUG_FILE), or name the format with --as",
      input.path, counts.lines);
}

}  // namespace

extern const Importer debug_log{
    .name = "debug_log",
    .summary =
        "torch_xla with PT_XLA_DEBUG, PT_XLA_DEBUG_LEVEL or TF_CPP_VMODULE: why graphs were cut and compiled",
    .example = "pt_xla_debug.log",
    .sniff = SniffDebugLog,
    .read = ReadDebugLog,
    .framework = Framework::kPytorchXla};

}  // namespace xlaprof
