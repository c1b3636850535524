// The figures of recompilation. Findings from counts alone have CountFigures (recompile/counts.h),
// findings about single operations have OutsideJitFigures (recompile/outside_jit.h), and all others
// have RecompileFigures.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/cause_group.h"
#include "analyzers/recompile/counts.h"
#include "analyzers/recompile/outside_jit.h"
#include "analyzers/recompile/padding.h"

namespace xlaprof {

// The place that compiled: a jitted function, or a cut of the graph at a line.
struct RecompileSite {
  std::string function;  // "" if it is no function
  CutKind cut = CutKind::kUnknown;
  SourcePlace place;      // empty when unknown
  std::string step_name;  // such as train; "" when unknown
};

// The parts of the cost.
struct RecompileCost {
  size_t timed = 0;              // compiles whose compilation was timed
  std::set<TimeSource> sources;  // by which
  int64_t trace_ns = 0;          // tracing and lowering on the host, of all compiles
  int64_t loaded = 0;            // from the persistent cache
  size_t in_profile = 0;         // of the timed ones
  // Set if the profile timed both the process and some of the compiles.
  OptInt profile_ns;
  std::optional<double> profile_share;  // of that time: compiles in it
};

// How many compiles are saved.
enum class RecompileSaving : uint8_t { kNone, kByPadding, kAll };

// The sizes that an input took in one of its dimensions, and to what it may be padded.
struct PaddingChoice {
  Padding largest, buckets;
  int64_t saved = 0;       // compiles, with buckets
  int64_t compile_ns = 0;  // mean of one compile; 0 where nothing is saved
};

// The compiles of one process that a finding cites.
struct CompilesSeen {
  size_t compiles = 0, at_site = 0;  // those of the finding, and all of its site
  int64_t steps = 0;                 // 0 when unknown
  StepsFrom steps_from = StepsFrom::kNothing;
  std::vector<std::pair<SourcePlace, int64_t>> other_lines;  // that called it, with their compiles
};

struct RecompileFigures {
  RecompileSite site;
  RecompileCause cause;                  // the clearest of its changes
  std::vector<std::string> values;       // that the change took, distinct
  std::optional<SizesSeen> sizes;        // of a shape_change
  std::optional<PaddingChoice> padding;  // where one dimension varies
  bool is_rare_smaller_size = false;     // such as the last batch of an epoch
  size_t from_sizes = 0;               // compiles that no graph shows, where graphs show the others
  std::vector<RecompileCause> beside;  // other changes that came with every one of them
  RecompileCost cost;
  RecompileSaving saving = RecompileSaving::kNone;
  // The compiles that each entry of the finding's evidence shows; empty for the two graphs that
  // were compared.
  std::vector<std::optional<CompilesSeen>> evidence;
  int64_t processes = 1;  // that have such a finding; the figures are of the one with most compiles
};

// Returns the words of a finding of the analyzer `recompilation`.
Words SayRecompilation(const Finding& finding, Framework framework);
// Return the words of its findings that are told from counts, and of single operations.
Words SayRecompileCounts(const Finding& finding, Framework framework);
Words SayOutsideJit(const Finding& finding, Framework framework);

}  // namespace xlaprof
