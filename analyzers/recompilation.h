// The figures of recompilation. Findings from counts alone have CountFigures (recompile/counts.h),
// findings about single operations have OutsideJitFigures (recompile/outside_jit.h), those from
// torch.compile's own log have DynamoFigures (recompile/dynamo.h), and all others RecompileFigures.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/cause_group.h"
#include "analyzers/recompile/counts.h"
#include "analyzers/recompile/dynamo.h"
#include "analyzers/recompile/outside_jit.h"
#include "analyzers/recompile/padding.h"

namespace xlaprof {

// The place that compiled: a jitted function, or a cut of the graph at a line.
struct RecompileSite {
  std::string function;  // "" if the site is not a function
  CutKind cut = CutKind::kUnknown;
  SourcePlace place;       // empty when unknown
  SourcePlace library;     // of a read: the library's line that reads; may be empty
  std::string step_name;   // such as train; "" when unknown
  bool explained = false;  // the log has JAX's explanations, though maybe not of this function
};

// The parts of the cost.
struct RecompileCost {
  size_t timed = 0;              // compiles whose compilation was timed
  std::set<TimeSource> sources;  // the sources of these times
  int64_t trace_ns = 0;          // tracing and lowering on the host, of all compiles
  int64_t loaded = 0;            // programs that were not compiled, but loaded from a cache
  int64_t loaded_ns = 0;         // time of these loads
  // The first executions of the programs took this much longer than their later ones; 0 if unknown.
  int64_t first_executions_ns = 0;
  size_t in_profile = 0;  // timed compiles in the profile
  // The parts of this time, if the source divides it.
  std::vector<std::pair<CompilePhase, int64_t>> phases_ns;
  // The process's time in the profile, and the share of it that these compiles take. Set if the
  // profile timed the process and some of the compiles.
  OptInt profile_ns;
  std::optional<double> profile_share;
  std::optional<double> measured_share;  // the share that the compiles take that the profile timed
  bool is_of_process = false;  // both are of the whole process, and of all compiles that were timed
};

// Says how many of the compiles a fix saves.
enum class RecompileSaving : uint8_t { kNone, kByPadding, kAll };

// The ways to pad the varying dimensions of an input.
struct PaddingChoice {
  Padding largest, buckets;
  int64_t saved = 0;       // compiles that buckets save
  int64_t compile_ns = 0;  // mean of one compile; 0 if nothing is saved
};

// The compiles of one process that a finding cites.
struct CompilesSeen {
  size_t compiles = 0, at_site = 0;  // compiles of the finding, and of its whole site
  int64_t steps = 0;                 // 0 when unknown
  StepsFrom steps_from = StepsFrom::kNothing;
  std::vector<std::pair<SourcePlace, int64_t>> other_lines;  // other callers and their compiles
  bool has_parts = false;  // the other lines are those of other parts of the same graph
};

struct RecompileFigures {
  RecompileSite site;
  RecompileCause cause;                  // the clearest of the finding's changes
  std::vector<int64_t> in_steps;         // of the compiles, if the cause is not known and they are few
  std::vector<std::string> values;       // the distinct values that the changed item had
  std::optional<SizesSeen> sizes;        // set for a shape_change
  std::optional<PaddingChoice> padding;  // set if sizes vary
  bool grows_steadily = false;           // one dimension grows by the same amount each time
  bool is_rare_smaller_size = false;     // for example the last batch of an epoch
  bool may_be_other_programs = false;    // such as an evaluation
  bool may_be_one_step = false;          // each step may run all of these programs
  bool is_only_loaded = false;           // no program was compiled; all came from a cache
  size_t from_sizes = 0;                 // compiles without graphs, if graphs show the others
  size_t carried = 0;                    // compiles that only likely have the cause of the others
  std::vector<RecompileCause> beside;    // other changes that accompanied each compile
  // The lines of several scalars that became 0, 1 or equal to another, with their compiles.
  std::vector<std::pair<SourcePlace, int64_t>> scalar_places;
  size_t parts = 1;  // graphs that each change compiles, if the runtime divides a step into several
  // The op whose result's size depends on values, if it changes the sizes of this graph.
  std::optional<Subject> mask;
  RecompileCost cost;
  RecompileSaving saving = RecompileSaving::kNone;
  // The compiles that each entry of the finding's evidence shows. An entry for the two compared
  // graphs is empty.
  std::vector<std::optional<CompilesSeen>> evidence;
  // The number of processes with such a finding. The figures are those of the process with most
  // compiles.
  int64_t processes = 1;
};

// Returns the words of a finding of the analyzer `recompilation`.
Words SayRecompilation(const Finding& finding, Framework framework);
// Return the words of its findings that come from counts alone, of those about single operations,
// and of those from torch.compile's own log.
Words SayRecompileCounts(const Finding& finding, Framework framework);
Words SayOutsideJit(const Finding& finding, Framework framework);
Words SayDynamo(const Finding& finding);

}  // namespace xlaprof
