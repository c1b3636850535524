#include "core/debug/debug.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "core/debug/append.h"
#include "core/debug/blocks.h"
#include "core/debug/dump.h"
#include "core/debug/fallback_summary.h"
#include "core/debug/frames.h"
#include "core/debug/step_rules.h"
#include "core/exec/call.h"
#include "core/ir/hlo_text.h"

namespace xlaprof::lazy::debug {
namespace {

bool PrintsBlocks(int64_t level) {
  return environment().debug_level >= level && environment().local_rank == 0;
}

// To PT_XLA_DEBUG_FILE, else to `stream`.
void Print(std::string_view text, std::FILE* stream) {
  const std::string& path = environment().debug_file;
  if (text.empty() || (!path.empty() && AppendToFile("PT_XLA_DEBUG_FILE", path, text))) return;
  std::fwrite(text.data(), 1, text.size(), stream);
}

BlockFacts FactsOf(const Hash& hash, size_t inputs, size_t outputs, const Cut& cut) {
  return {.cause = cut.cause,
          .hash = hash.ToText(),
          .inputs = inputs,
          .outputs = outputs,
          .frames = FrameTexts(cut.cause, StackAt(cut.where))};
}

// One a device: NAME.0 of CPU:0.
void AddToTensorsFile(const std::string& device, std::string_view text) {
  const std::string& path = environment().save_tensors_file;
  AppendToFile("XLA_SAVE_TENSORS_FILE",
               fmt::format("{}.{}", path, device.substr(device.rfind(':') + 1)), text);
}

void PrintSummary() {
  const std::string summary = FallbackSummary();
  if (!environment().debug_file.empty()) return Print(summary, stderr);
  // Lines of a logger with this name.
  for (size_t at = 0; at < summary.size();) {
    const size_t end = summary.find('\n', at);
    fmt::print(stderr, "pt-xla-profiler: {}\n", std::string_view(summary).substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

void OnCut(const TracedGraph& graph, const std::string& device, const Cut& cut) {
  if (environment().save_tensors_file.empty()) return;
  static std::atomic<int64_t> dumps{0};
  const Program program = MakeProgram(graph, fmt::format("IrToHlo.{}", ++dumps));
  std::vector<Hash> roots;
  for (const NodePtr& root : graph.roots) roots.push_back(root->hash());
  const std::string text =
      GraphText(program, environment().save_tensors_fmt, {.debug = environment().ir_debug});
  AddToTensorsFile(device, SectionBegin(FrameTexts(cut.cause, StackAt(cut.where)), roots, text));
}

void OnProgram(const TracedGraph& graph, const std::string& device) {
  if (!environment().save_tensors_file.empty()) AddToTensorsFile(device, SectionEnd(graph.hash));
}

void OnCompile(const Program& program, const Cut& cut) {
  if (!PrintsBlocks(1)) return;
  const BlockFacts facts =
      FactsOf(program.hash, program.parameters.size(), program.results.size(), cut);
  Print(CompilationBlock(facts, environment().debug_frames) +
            ComputationHashLine(Mix(Hash{}, HloText(program)).ToText()),
        stderr);
}

void OnCompiled(const Executable::Sizes& sizes) {
  if (PrintsBlocks(1)) Print(PostCompilationBlock(sizes), stderr);
}

absl::Status OnCompileError(const absl::Status& error, const Program& program) {
  const Environment& asked = environment();
  if (asked.save_hlo_file.empty() && !asked.dump_hlo_graph) return error;
  const std::string hlo = HloText(program, {.debug = asked.ir_debug});
  if (!asked.save_hlo_file.empty()) {
    static std::atomic<int64_t> saved{0};
    AppendToFile("XLA_SAVE_HLO_FILE", asked.save_hlo_file, HloSection(saved++, gettid(), hlo));
  }
  if (!asked.dump_hlo_graph) return error;
  return absl::Status(error.code(),
                      fmt::format("{}\n>>> Dumping Computation 0\n{}", Message(error), hlo));
}

void OnExecution(const CompiledGraph& graph, const Cut& cut) {
  if (!PrintsBlocks(2)) return;
  Print(ExecutionBlock(FactsOf(graph.hash, graph.inputs, graph.outputs, cut),
                       environment().debug_frames),
        stderr);
}

void OnStep() {
  if (!environment().debug) return;
  Print(StepRuleLines(), stdout);
  std::fflush(stdout);
}

void OnFallback(std::string_view op, const observe::Stack& stack) {
  if (!environment().debug) return;
  [[maybe_unused]] static const int registered = std::atexit(PrintSummary);
  AddFallback(op, FrameTexts(stack));
}

}  // namespace xlaprof::lazy::debug
