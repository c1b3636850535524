#include "core/debug/debug.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/say.h"
#include "core/debug/append.h"
#include "core/debug/blocks.h"
#include "core/debug/dump.h"
#include "core/debug/fallback_summary.h"
#include "core/debug/fn_tracker.h"
#include "core/debug/frames.h"
#include "core/debug/step_rules.h"
#include "core/environment.h"
#include "core/exec/call.h"
#include "core/exec/device.h"
#include "core/ir/hlo_text.h"
#include "core/log.h"

namespace xlaprof::lazy::debug {
namespace {

using enum LogModule;

bool PrintsBlocks(int64_t level) {
  return environment().debug_level >= level && environment().local_rank == 0;
}

// Prints to PT_XLA_DEBUG_FILE, or to `stream` if that is not set. A stream that cannot be written
// changes nothing.
void Print(std::string_view text, std::FILE* stream) {
  const std::string& path = environment().debug_file;
  if (text.empty() || (!path.empty() && AppendToFile("PT_XLA_DEBUG_FILE", path, text))) return;
  if (stream == stderr) return Say(text);
  std::fwrite(text.data(), 1, text.size(), stream);
}

BlockFacts FactsOf(const Hash& hash, size_t inputs, size_t outputs, const Cut& cut) {
  return {.cause = cut.cause,
          .hash = hash.ToText(),
          .inputs = inputs,
          .outputs = outputs,
          .frames = FrameTexts(StackAt(cut.where))};
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
    Say(fmt::format("pt-xla-profiler: {}\n", std::string_view(summary).substr(at, end - at)));
    at = end + 1;
  }
}

// Writes in torch_xla's words what environment variables ask for.
class Debug final : public RuntimeListener {
 public:
  void OnLiveTensors(size_t count) override { Log(kGraphs, 4, "{} live tensors: devices=()", count); }
  void OnTensors(size_t count) override {
    Log(kGraphs, 4, "Trying to sync the value of {} tensor(s)", count);
  }
  void OnRead(size_t count) override {
    Log(kGraphs, 4, "Trying to get the value of {} tensor(s)", count);
  }

  void OnCut(const TracedGraph& graph, Device& device, const Cut& cut) override {
    Log(kGraphs, 4, "Tensors graph hash {} on device {}", graph.tensors_hash.ToText(),
        device.name());
    Log(kGraphs, 4, "Parameter sequence graph hash {}", graph.hash.ToText());
    Log(kGraphs, 5, "Graph hash: {}", graph.hash.ToText());
    const Environment& asked = environment();
    if (asked.save_tensors_file.empty()) return;
    const std::string& format = asked.save_tensors_fmt;
    static std::atomic<int64_t> dumps{0};
    const Program program = MakeProgram(graph, fmt::format("IrToHlo.{}", ++dumps));
    std::vector<Hash> roots;
    for (const NodePtr& root : graph.roots) roots.push_back(root->hash());
    const std::string text =
        GraphText(program, format, {.debug = format == "hlo" ? asked.hlo_debug : asked.ir_debug});
    AddToTensorsFile(device.name(), SectionBegin(FrameTexts(cut), roots, text));
  }

  void OnCompile(const Program& program, Device& device, const Cut& cut) override {
    Log(kGraphs, 3, "Compiling IR graph hash {} on device {} ...", program.hash.ToText(),
        device.name());
    if (!PrintsBlocks(1)) return;
    const BlockFacts facts =
        FactsOf(program.hash, program.parameters.size(), program.results.size(), cut);
    Print(CompilationBlock(facts, environment().debug_frames) +
              ComputationHashLine(Mix(Hash{}, HloText(program)).ToText()),
          stderr);
  }

  void OnCompiled(const Compilation& compilation) override {
    if (compilation.was_kept == true) return;
    const TracedGraph& graph = compilation.graph;
    const Executable::Sizes sizes = compilation.compiled.executable->sizes();
    Log(kClient, 3,
        "memory usage detail = CompiledMemoryStats(generated_code_size_in_bytes={}, "
        "argument_size_in_bytes={}, output_size_in_bytes={}, alias_size_in_bytes={}, "
        "temp_size_in_bytes={})",
        sizes.program_bytes, sizes.argument_bytes, sizes.result_bytes, sizes.alias_bytes,
        sizes.temporary_bytes);
    Log(kGraphs, 3, "Compiling IR graph hash {} on device {} done!", graph.hash.ToText(),
        compilation.device.name());
    if (Logs(kGraphs, 5)) Log(kGraphs, 5, "Compiled program shape {}", ProgramShape(graph));
    Log(kGraphs, 5, "TensorsGraphSize={}", graph.nodes.size());
    if (PrintsBlocks(1)) Print(PostCompilationBlock(sizes), stderr);
  }

  void OnFailed(const Program& program, absl::Status* error) override {
    const Environment& asked = environment();
    if (!asked.shows_failed_programs()) return;
    const std::string hlo = HloText(program, {.debug = asked.hlo_debug});
    if (!asked.save_hlo_file.empty()) {
      static std::atomic<int64_t> saved{0};
      AppendToFile("XLA_SAVE_HLO_FILE", asked.save_hlo_file, HloSection(saved++, gettid(), hlo));
    }
    if (!asked.dump_hlo_graph) return;
    *error = absl::Status(error->code(),
                          fmt::format("{}\n>>> Dumping Computation 0\n{}", Message(*error), hlo));
  }

  void OnEnqueue(const TracedGraph& graph, const Cut& cut, Execution& execution) override {
    if (!environment().save_tensors_file.empty())
      AddToTensorsFile(execution.device.name(), SectionEnd(graph.hash));
    if (!PrintsBlocks(2)) return;
    const CompiledGraph& compiled = *execution.graph;
    Print(ExecutionBlock(FactsOf(compiled.hash, compiled.inputs, compiled.outputs, cut),
                         environment().debug_frames),
          stderr);
  }

  void OnRun(const Execution& execution) override {
    Log(kGraphs, 3, "Executing IR graph hash {} on device {} ...", execution.graph->hash.ToText(),
        execution.device.name());
  }
  void OnRan(const Execution& execution) override {
    Log(kGraphs, 3, "Executing IR graph hash {} on device {} done!",
        execution.graph->hash.ToText(), execution.device.name());
  }

  void OnStep(const observe::Step*) override {
    if (!environment().debug) return;
    Print(StepRuleLines(), stdout);
    std::fflush(stdout);
  }

  void OnFallback(std::string_view op, const observe::Stack& stack) override {
    if (IsTracked(op))
      AppendToFile("XLA_FNTRACKER_FILE", environment().fn_tracker_file,
                   FnTrackerSection(op, FrameTexts(stack)));
    if (!environment().debug) return;
    [[maybe_unused]] static const int registered = std::atexit(PrintSummary);
    AddFallback(op, FrameTexts(stack));
  }
};

}  // namespace

RuntimeListener& DebugListener() {
  static Debug& listener = *new Debug;
  return listener;
}

}  // namespace xlaprof::lazy::debug
