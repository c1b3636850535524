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
#include "core/debug/fn_tracker.h"
#include "core/debug/frames.h"
#include "core/debug/log.h"
#include "core/debug/step_rules.h"
#include "core/exec/call.h"
#include "core/ir/hlo_text.h"

namespace xlaprof::lazy::debug {
namespace {

using enum LogModule;

bool PrintsBlocks(int64_t level) {
  return environment().debug_level >= level && environment().local_rank == 0;
}

// Prints to PT_XLA_DEBUG_FILE, or to `stream` if that is not set.
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

// Appends to the file of a device: NAME.0 for CPU:0.
void AddToTensorsFile(const std::string& device, std::string_view text) {
  const std::string& path = environment().save_tensors_file;
  AppendToFile("XLA_SAVE_TENSORS_FILE",
               fmt::format("{}.{}", path, device.substr(device.rfind(':') + 1)), text);
}

// Returns a program's signature: (p0: f32[16,32], p1: s64[]) -> (f32[16])
std::string ProgramShape(const TracedGraph& graph) {
  std::vector<std::string> parameters, results;
  for (const Ref<Data>& parameter : graph.parameters)
    parameters.push_back(fmt::format("p{}: {}", parameters.size(), parameter->shape().ToText()));
  for (const NodePtr& root : graph.roots) results.push_back(root->shape().ToText());
  return fmt::format("({}) -> ({})", fmt::join(parameters, ", "), fmt::join(results, ", "));
}

void PrintSummary() {
  const std::string summary = FallbackSummary();
  if (!environment().debug_file.empty()) return Print(summary, stderr);
  // On stderr the lines look like those of a logger with this name.
  for (size_t at = 0; at < summary.size();) {
    const size_t end = summary.find('\n', at);
    fmt::print(stderr, "pt-xla-profiler: {}\n", std::string_view(summary).substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

void OnLiveTensors(size_t count) { Log(kGraphs, 4, "{} live tensors: devices=()", count); }
void OnTensors(size_t count) { Log(kGraphs, 4, "Trying to sync the value of {} tensor(s)", count); }
void OnRead(size_t count) { Log(kGraphs, 4, "Trying to get the value of {} tensor(s)", count); }

void OnCut(const TracedGraph& graph, const std::string& device, const Cut& cut) {
  Log(kGraphs, 4, "Tensors graph hash {} on device {}", graph.tensors_hash.ToText(), device);
  Log(kGraphs, 4, "Parameter sequence graph hash {}", graph.hash.ToText());
  Log(kGraphs, 5, "Graph hash: {}", graph.hash.ToText());
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

void OnCompile(const Program& program, const std::string& device, const Cut& cut) {
  Log(kGraphs, 3, "Compiling IR graph hash {} on device {} ...", program.hash.ToText(), device);
  if (!PrintsBlocks(1)) return;
  const BlockFacts facts =
      FactsOf(program.hash, program.parameters.size(), program.results.size(), cut);
  Print(CompilationBlock(facts, environment().debug_frames) +
            ComputationHashLine(Mix(Hash{}, HloText(program)).ToText()),
        stderr);
}

void OnCompiled(const TracedGraph& graph, const std::string& device,
                const Executable::Sizes& sizes) {
  Log(kClient, 3,
      "memory usage detail = CompiledMemoryStats(generated_code_size_in_bytes={}, "
      "argument_size_in_bytes={}, output_size_in_bytes={}, alias_size_in_bytes={}, "
      "temp_size_in_bytes={})",
      sizes.program_bytes, sizes.argument_bytes, sizes.result_bytes, sizes.alias_bytes,
      sizes.temporary_bytes);
  Log(kGraphs, 3, "Compiling IR graph hash {} on device {} done!", graph.hash.ToText(), device);
  if (Logs(kGraphs, 5)) Log(kGraphs, 5, "Compiled program shape {}", ProgramShape(graph));
  Log(kGraphs, 5, "TensorsGraphSize={}", graph.nodes.size());
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

void OnRun(const CompiledGraph& graph, const std::string& device) {
  Log(kGraphs, 3, "Executing IR graph hash {} on device {} ...", graph.hash.ToText(), device);
}
void OnRan(const CompiledGraph& graph, const std::string& device) {
  Log(kGraphs, 3, "Executing IR graph hash {} on device {} done!", graph.hash.ToText(), device);
}

void OnStep() {
  if (!environment().debug) return;
  Print(StepRuleLines(), stdout);
  std::fflush(stdout);
}

void OnFallback(std::string_view op, const observe::Stack& stack) {
  if (IsTracked(op))
    AppendToFile("XLA_FNTRACKER_FILE", environment().fn_tracker_file,
                 FnTrackerSection(op, FrameTexts(stack)));
  if (!environment().debug) return;
  [[maybe_unused]] static const int registered = std::atexit(PrintSummary);
  AddFallback(op, FrameTexts(stack));
}

}  // namespace xlaprof::lazy::debug
