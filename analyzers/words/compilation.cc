#include "analyzers/words/compilation.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/words/in_terms_of.h"

namespace xlaprof {

std::string Describe(const TimedCompilation& c) {
  std::string out = DurationText(c.dur_ns);
  if (c.nodes) out += ", " + Plural(*c.nodes, "node");
  if (c.program_bytes.value_or(0) > 0)
    out += fmt::format(", program of {}", BytesText(double(*c.program_bytes)));
  if (c.graph_hash) out += fmt::format(", graph {}", *c.graph_hash);
  if (c.place) out += ", " + c.place->text();
  return out;
}

// Says how many steps take as long as compiling, and how many pay it back.
std::string StepsText(const std::optional<CompileSteps>& steps) {
  if (!steps) return "";
  return fmt::format("This is as long as {}. It is under {:.0f} % of the run after {} steps.",
                     Plural(steps->as_long_as, "steady step"), 100 * steps->paid_back_share,
                     steps->paid_back);
}

std::string TracingNote(const TracingBefore& tracing) {
  if (tracing.ns <= 0) return "";
  return fmt::format("; {} of it is tracing and lowering on the host", DurationText(tracing.ns));
}

std::string_view Name(CompilePhase phase) {
  switch (phase) {
    case CompilePhase::kDynamo:
      return "Dynamo";
    case CompilePhase::kAotAutograd:
      return "AOTAutograd";
    case CompilePhase::kInductor:
      return "Inductor";
    case CompilePhase::kCodeGeneration:
      return "generated code";
    case CompilePhase::kToolchainProbe:
      return "trials of the C++ compiler";
    case CompilePhase::kUnknown:
      break;
  }
  return "other parts";
}

std::string SumTitle(int64_t count, int64_t ns, int64_t longest_ns, bool longest_is_known) {
  std::string title = fmt::format("{} took {}", Plural(count, "compilation"), DurationText(ns));
  if (count > 1) {
    title += fmt::format(", {} {}", longest_is_known ? "the longest" : "on average",
                         DurationText(longest_ns));
  }
  return title;
}

std::string_view GraphsAreNotTold(Framework framework) {
  return framework == Framework::kGaudi ? "The totals do not distinguish graphs."
                                        : "Metrics do not distinguish graphs.";
}

std::string SumNote(Framework framework) {
  return framework == Framework::kGaudi ? "the exact sum of graph_compilation's TotalTime"
                                        : "the exact sum of CompileTime";
}

std::string MarkRoundsAdvice(Framework framework) {
  return fmt::format(
      "Call {} at the end of each round of the loop before this line, so that all rounds run the same small graph.",
      StepMarkCall(framework));
}

std::string_view KeepCacheAdvice(Framework framework) {
  switch (framework) {
    case Framework::kPytorchXla:
      return "Keep the compilation cache between runs (torch_xla.runtime.initialize_cache). Make the graph smaller (scan over repeated layers).";
    case Framework::kJax:
      return "Keep the compilation cache between runs (jax_compilation_cache_dir). Make the graph smaller (jax.lax.scan over repeated layers).";
    case Framework::kUnknown:
      return "Keep the compilation cache between runs (torch_xla.runtime.initialize_cache in PyTorch/XLA, jax_compilation_cache_dir in JAX). Make the graph smaller (scan over repeated layers).";
    case Framework::kGaudi:
      return "Keep compiled recipes on disk between runs (PT_HPU_RECIPE_CACHE_CONFIG=FOLDER,false,SIZE_MB). Make the graph smaller.";
    case Framework::kPytorch:
      return "Keep the compiled programs between runs: torch.compile stores them under /tmp, or where TORCHINDUCTOR_CACHE_DIR says. Make the graph smaller.";
    case Framework::kCpp:
    case Framework::kTorchtpu:
    case Framework::kTensorflow:
      break;
  }
  return "Make the graph smaller.";
}

std::string LessTracingAdvice(Framework framework) {
  return fmt::format(
      "Most of it is Python, which runs again in each process, so a persistent cache does not save it. {}",
      framework == Framework::kPytorchXla
          ? "Trace repeated layers once (torch_xla.experimental.scan)."
          : "Write loops over layers or steps as jax.lax.scan or jax.lax.fori_loop, so that their body is traced once, and make constants with jax.numpy outside of the function.");
}

}  // namespace xlaprof
