// The figures and words of slow_compile. The figures of a finding depend on what the store holds:
// compilations with times, a metric, torch_xla's own lines, or XLA's alarms.
#pragma once

#include <variant>

#include "analyzers/finding.h"
#include "analyzers/run/compile_alarms.h"

namespace xlaprof {

struct TimedCompilation {
  int64_t dur_ns = 0;
  OptInt nodes;          // of its graph
  OptInt program_bytes;  // of the compiled program
  OptText graph_hash;
  std::optional<SourcePlace> place;  // if the line is known
};

// How long compiling takes, as a number of steady steps.
struct CompileSteps {
  int64_t as_long_as = 0;  // so many steps take as long
  int64_t paid_back = 0;   // after so many steps compiling is `paid_back_share` of the run
  double paid_back_share = 0;
};

// Tracing and lowering on the host, before XLA compiles.
struct TracingBefore {
  int64_t ns = 0;
  bool is_large = false;  // against the compilation
};

// The remedy that makes compiling cheaper.
enum class CompileRemedy : uint8_t {
  kCacheAndSmallerGraph,
  kLessTracing,     // tracing takes longer than XLA does
  kFasterFirstUse,  // the program is one operation, which cannot be made smaller
};

// One compilation that takes too long.
struct SlowCompilation {
  TimedCompilation compilation;
  std::optional<CompileSteps> steps;  // if the steady step is known
  TracingBefore tracing;
  CompileRemedy remedy = CompileRemedy::kCacheAndSmallerGraph;
  std::string jax_operation;  // that the program is made of, for kFasterFirstUse
};

// The first compilation of each place, if none of them takes too long.
struct FirstCompilations {
  int64_t compile_ns = 0;                  // of all, without tracing
  std::vector<TimedCompilation> examples;  // the slowest first; one for each evidence
  std::optional<CompileSteps> steps;
  TracingBefore tracing;
  CompileRemedy remedy = CompileRemedy::kCacheAndSmallerGraph;
};

// The metric CompileTime.
struct CompileTimeMetric {
  int64_t longest_ns = 0;  // the mean if the longest is not known
  bool longest_is_known = false;
};

// torch_xla's own lines, each of which tells the longest compilation until then.
struct SlowCompileLines {
  int64_t threshold_ns = 0;  // above it torch_xla writes the line
  OptInt longest_ns, shortest_ns;
  int64_t lengths = 0;  // different ones; the least number of compilations
};

// XLA's own alarms of one kind.
struct SlowCompileAlarms {
  CompileAlarms alarms;
  int64_t per_process = 0;    // how many each process has
  std::string jax_operation;  // that the module is made of; "" if it is not one operation
};

using SlowCompileFigures = std::variant<SlowCompilation, FirstCompilations, CompileTimeMetric,
                                        SlowCompileLines, SlowCompileAlarms>;

// Says what compiling cost, when that is paid back, and how to make it cheaper.
Words SaySlowCompile(const Finding& finding, Framework framework);

}  // namespace xlaprof
