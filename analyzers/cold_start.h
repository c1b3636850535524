// The figures and words of cold_start: what the time until the first steady step is spent on.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/timed_compilation.h"

namespace xlaprof {

// Tells what the caches of compiled programs did at the start.
struct CachesAtStart {
  int64_t loaded = 0;  // programs that came from a cache
  OptInt load_ns;      // the time to load them
  OptInt saved_ns;     // what the source says that they saved
  int64_t missed = 0;  // programs that no cache had, and that one keeps for the next run
};

// The first compilations of one process.
struct ColdStartFigures {
  int64_t processes = 1;  // with an account; this is the longest
  int64_t places = 0;     // that compiled; 0 if only a metric counts the compilations
  int64_t compile_ns = 0;
  OptInt longest_ns;              // the longest compilation
  bool longest_is_known = false;  // false: it is the mean
  TracingBefore tracing;
  // Parts of compile_ns, in the order in which a compilation passes through them. Empty if unknown.
  std::vector<std::pair<CompilePhase, int64_t>> phases_ns;
  OptInt autotuning_ns;  // a part of compile_ns
  OptInt upload_ns;      // transfers before the first steady step
  CachesAtStart caches;
  OptInt most_saved_ns;  // a warm cache saves at most this
  // From the first moment that the files show to the first steady step, and the time in between that
  // is none of the above.
  OptInt until_steady_ns, rest_ns;
  std::optional<CompileSteps> steps;
  std::vector<TimedCompilation> examples;  // the slowest first; one per entry of evidence
};

// Says what the start cost, and what a cache saves of it.
Words SayColdStart(const Finding& finding, Framework framework);

}  // namespace xlaprof
