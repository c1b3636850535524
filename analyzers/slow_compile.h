// The figures and words of slow_compile. The figures of a finding depend on what the store holds:
// compilations with times, a metric, torch_xla's own lines, or XLA's alarms.
#pragma once

#include <variant>

#include "analyzers/finding.h"
#include "analyzers/run/compile_alarms.h"
#include "analyzers/timed_compilation.h"

namespace xlaprof {

// The remedy that makes compiling cheaper.
enum class CompileRemedy : uint8_t {
  kCacheAndSmallerGraph,
  kLessTracing,     // tracing takes longer than XLA does
  kFasterFirstUse,  // the program is one operation, which cannot be made smaller
  kRollLoop,        // the program contains an unrolled loop
  kPassArray,       // the program contains a large array as a constant
};

// A loop that is unrolled in the program (FindUnrolledLoop).
struct UnrolledLines {
  int64_t turns = 0;
  std::string weight_shape;
  SourcePlace place;       // of the multiplication in each turn, or of most operations
  int64_t body_nodes = 0;  // operations of one turn; 0 if unknown
  double share = 0;        // of the program's operations that is in the turns; 0 if unknown
};

// A large array that is a constant of the program (FindLargestConstant).
struct CapturedArray {
  int64_t bytes = 0;
  std::string shape;
  SourcePlace place;  // of the first op that reads it; empty if unknown
};

// One compilation that takes too long.
struct SlowCompilation {
  TimedCompilation compilation;
  std::optional<CompileSteps> steps;  // if the steady step is known
  TracingBefore tracing;
  CompileRemedy remedy = CompileRemedy::kCacheAndSmallerGraph;
  std::string jax_operation;                // the program's operation, for kFasterFirstUse
  std::optional<UnrolledLines> loop;        // for kRollLoop
  std::vector<TimedCompilation> same_loop;  // other graphs with this loop; one per further evidence
  std::optional<CapturedArray> array;       // for kPassArray
};

// The graphs that only the reads at one place need.
struct CompilationsOfReads {
  std::vector<TimedCompilation> examples;  // the slowest first; one per entry of evidence
  int64_t shares = 0;  // how many of all these times are equal shares of the metric's sum
  // How many times as long as the longest graph of a step the longest of these took, if it is so many that
  // they most likely hold several rounds of a loop.
  OptReal times_of_step;
};

// torch_xla's own lines, each of which has the longest compilation until then.
struct SlowCompileLines {
  int64_t threshold_ns = 0;  // torch_xla writes the line above this
  OptInt longest_ns, shortest_ns;
  int64_t lengths = 0;  // number of different lengths, so of compilations at least
};

// XLA's own alarms of one kind.
struct SlowCompileAlarms {
  CompileAlarms alarms;
  int64_t per_process = 0;    // number of alarms in each process
  std::string jax_operation;  // the module's operation; "" if it is not a single one
};

using SlowCompileFigures = std::variant<SlowCompilation, CompilationsOfReads, CompileTimeSum,
                                        SlowCompileLines, SlowCompileAlarms>;

// Says what compiling cost, when that is paid back, and how to make it cheaper.
Words SaySlowCompile(const Finding& finding, Framework framework);

}  // namespace xlaprof
