// Holds what findings say of compilations: how long one took, and how many steps take as long.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzers/finding.h"
#include "analyzers/recompile/first_compilations.h"

namespace xlaprof {

struct TimedCompilation {
  int64_t dur_ns = 0;
  OptInt nodes;          // number of nodes of its graph
  OptInt program_bytes;  // size of the compiled program
  OptText graph_hash;
  std::optional<SourcePlace> place;  // if the line is known
};

// The time of compiling, as a number of steady steps.
struct CompileSteps {
  int64_t as_long_as = 0;  // this many steps take as long as compiling
  int64_t paid_back = 0;   // after this many steps, compiling is `paid_back_share` of the run
  double paid_back_share = 0;
};

// Tracing and lowering on the host, before XLA compiles.
struct TracingBefore {
  int64_t ns = 0;
  bool is_large = false;  // compared with the compilation
};

TimedCompilation Timed(const FirstCompilation& compilation);
TracingBefore TracingOf(int64_t trace_ns, int64_t compile_ns);
std::optional<CompileSteps> StepsAsLongAs(int64_t ns, OptInt step_ns);
Subject About(const FirstCompilation& compilation);
// Returns whether a compilation takes too long, compared with a person's patience or with a step.
bool IsTooSlow(int64_t ns, OptInt step_ns);

// The metric CompileTime of the last report.
struct CompileTimeSum {
  int64_t row = 0;  // of table metric
  int64_t samples = 0, ns = 0;
  int64_t longest_ns = 0;  // the mean, if the longest is not known
  bool longest_is_known = false;
  bool is_too_slow = false;
};
absl::StatusOr<std::optional<CompileTimeSum>> CompileTimeOf(const Run& run);

}  // namespace xlaprof
