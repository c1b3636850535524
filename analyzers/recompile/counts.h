// Recompilation told from counts alone: metrics reports, or torch_xla's own "CompileTime too
// frequent" lines.
#pragma once

#include <optional>
#include <set>

#include "analyzers/finding.h"
#include "analyzers/recompile/state.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// The source of the counts.
struct CountSource {
  enum class Kind : uint8_t {
    kReports,        // metrics reports
    kOneOfReports,   // one metrics report of several that do not go on from one another
    kFrequentLines,  // torch_xla's "CompileTime too frequent" lines
  };
  Kind kind = Kind::kReports;
  size_t number = 0;  // of reports or lines
};

// The figures from which a conclusion about counts is drawn.
struct CountSignals {
  int64_t compiles = 0, steps = 0;  // steps: 0 if they are not told
  OptInt executions, compile_ns;
  int64_t cuts = 1;         // graphs in each step
  int64_t clean = 0;        // compiles that a clean program of so many cuts makes
  int64_t again = 0;        // compiles after the first of each graph
  double new_share = 0;     // of the executions: those that compiled; 0 if they are not told
  double time_share = 0;    // compiling, of all compiling and executing
  bool in_windows = false;  // there are enough reports or lines to tell when it compiled
  RecompileState state;     // in windows only
  // The compiles between two reports, which one report cannot show.
  struct Between {
    int64_t before = 0, more = 0;  // compiles up to the earlier report, and since
    OptInt since_step;             // of the earlier
  };
  std::optional<Between> between;
  bool quiet = false;         // the last interval is long, and has none
  bool is_cut = false;        // what is not told may stand in a part of the input that is missing
  bool beyond_clean() const;  // clearly more compiles than a clean program makes
};

// The conclusion that was drawn from counts.
enum class CountVerdict : uint8_t {
  // It recompiles.
  kMoreThanClean,        // more compiles than a clean program makes in as many steps
  kMostExecutionsNew,    // without steps: most executions ran a new graph
  kMoreGraphsThanClean,  // without steps: more graphs than a clean program has
  kGoesOnInEachReport,   // reports of one process that each stand for themselves
  // It may recompile.
  kProcessesOrGoesOn,  // such reports, of one process or of several
  kStepsNotTold,
  kExecutionsNotTold,  // so there may be several graphs in a step
  // It does not recompile, or hardly.
  kStopped,            // none in the last interval
  kCleanWithoutSteps,  // no more than a clean program makes in its first steps
  kFewForExecutions,
  kFewPerStep,
  kCleanByCounters,  // the counters say so; CompileTime is missing
  kClean,
};

struct CountFigures {
  CountVerdict verdict = CountVerdict::kClean;
  CountSource source;
  CountSignals signals;        // of reports that stand for themselves: their sums
  OptInt compiles_in_profile;  // set if a profile saw some of the compiles
};

// One finding at most for each process of which the counts tell more compiles than table compile
// has rows, and that is not in `told`: those whose rows were a pattern by themselves. Where there
// are rows (a profile that saw a window of the run), only a warning is worth it. Neither place nor
// reason is known; the state is, where reports or lines follow each other. None for a part of the
// run's time.
absl::StatusOr<Findings> FromCounts(const Run& run, const std::set<int64_t>& told);

}  // namespace xlaprof
