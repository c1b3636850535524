// The compilations that even a clean program makes: the first one of each graph.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct FirstCompilation {
  int64_t row = 0, process_id = 0;
  int64_t ns = 0;          // length
  OptInt ts_ns, trace_ns;  // start, and the time of tracing and lowering before it
  // Parts of `ns`, if they are known. They do not overlap.
  std::vector<std::pair<CompilePhase, int64_t>> phases_ns;
  OptText hash, file, function;
  OptInt nodes, line, program_bytes, graph_id;
  bool is_share = false;        // `ns` is an equal share of the time of several compilations
  bool is_unlike_others = false;  // then: its graph clearly has another size than theirs
  bool first_of_site = false;   // later ones of a place are the matter of recompilation
  bool is_for_read = false;     // only a read before the step mark needs its graph
  std::optional<double> again;  // then: the share of it that the step's graph contains, if known
};

// A program that came from a cache.
struct LoadedProgram {
  int64_t row = 0, process_id = 0;
  OptInt ns;  // the time to load it, if known
};

struct FirstCompilations {
  // The first compilation of each graph in the chosen part that has a length, by row. A compilation
  // without a known graph counts as the first of its own graph.
  std::vector<FirstCompilation> all;
  std::vector<LoadedProgram> loaded;

  static absl::StatusOr<FirstCompilations> Of(const Run& run);
};

}  // namespace xlaprof
