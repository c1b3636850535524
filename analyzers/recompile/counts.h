// Finds recompilation from counts alone: from metrics reports, or from torch_xla's own "CompileTime
// too frequent" lines.
#pragma once

#include <optional>
#include <set>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// The source of the counts.
struct CountSource {
  enum class Kind : uint8_t {
    kReports,        // metrics reports
    kOneOfReports,   // one of several metrics reports that do not continue one another
    kFrequentLines,  // torch_xla's "CompileTime too frequent" lines
  };
  Kind kind = Kind::kReports;
  size_t number = 0;  // number of reports or lines
};

// The figures from which a conclusion about counts is drawn.
struct CountSignals {
  int64_t compiles = 0, steps = 0;  // steps: 0 if not counted
  OptInt executions, compile_ns;
  int64_t cuts = 1;         // graphs in each step
  int64_t clean = 0;        // compiles of a clean program with as many cuts
  int64_t again = 0;        // compiles after the first of each graph
  double new_share = 0;     // the part of the executions that compiled; 0 if they are not counted
  double time_share = 0;    // the part that compiling takes of compiling and executing
  // The compiles between the last report and an earlier one. It is the report before, or the first
  // with as many compiles as the last.
  struct Between {
    int64_t before = 0, more = 0;  // compiles up to the earlier report, and since
    OptInt since_step;             // the step of the earlier report
    int64_t reports = 1;           // after the earlier one
  };
  std::optional<Between> between;
  bool quiet = false;         // the last interval is long and has no compiles
  bool rises = false;         // the last of several reports count more compiles than those before
  bool is_cut = false;        // missing counts may be in a part of the input that is missing
  bool beyond_clean() const;  // clearly more compiles than a clean program makes
};

// The conclusion that was drawn from counts.
enum class CountVerdict : uint8_t {
  // It recompiles.
  kMoreThanClean,        // more compiles than a clean program makes in as many steps
  kMostExecutionsNew,    // without steps: most executions ran a new graph
  kMoreGraphsThanClean,  // without steps: more graphs than a clean program has
  kGoesOnInEachReport,   // reports of one process that do not continue one another
  // It may recompile.
  kProcessesOrGoesOn,  // such reports, from one process or several
  kStepsNotTold,
  kExecutionsNotTold,  // a step may have several graphs
  // It does not recompile, or hardly.
  kStopped,            // no compiles in the last interval
  kCleanWithoutSteps,  // no more than a clean program makes in its first steps
  kFewForExecutions,
  kFewPerStep,
  kCleanByCounters,  // the counters say so; CompileTime is missing
  kClean,
};

struct CountFigures {
  CountVerdict verdict = CountVerdict::kClean;
  CountSource source;
  CountSignals signals;        // sums, if the reports do not continue one another
  OptInt known_compiles;       // set if some of the compiles are known one by one, as from a profile
};

// Returns at most one finding per process whose counts show more compiles than table compile has
// rows. Leaves out the processes in `told`, whose rows were a pattern by themselves, and those of
// which a log has most compiles. If there are rows (from a profile of a window of the run), only a
// warning is returned. The findings have no place and no reason. They are settled if no report or
// line of the last part of the run counts another compile, and ongoing if one of several does.
// Returns nothing if the chosen part is a part of the run's time.
absl::StatusOr<Findings> FromCounts(const Run& run, const std::set<int64_t>& told);

}  // namespace xlaprof
