// The one policy for the impact of findings of all kinds and sources: how severe they are, and in
// which range their cost and saving lie.
#pragma once

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// With what the policy compares a finding.
struct RunLength {
  OptInt ns;             // the time of the process or device that was timed longest, if any was
  bool is_part = false;  // only a part of the run is analysed

  static absl::StatusOr<RunLength> Of(const Run& run);
};

// Returns the severity of a finding whose rule has set the rest:
// - info: the rule does not ask for a change, or the change saves too little to be noticed and is
//   known not to save it in every step;
// - error: the program fails or hangs because of it; or it goes on, and what it is known to cost is
//   more than half of the run;
// - warning: everything else that the rule asks to change.
// A cost that is not known, or a run whose length is not known, leaves it a warning.
Severity SeverityOf(const Finding& finding, const RunLength& run);

// Sets the ranges in which an estimated cost and the saving lie.
void SetIntervals(const RunLength& run, Finding& finding);
// Limits the range of what the remedy saves, with what follows from the finding, to the run.
void LimitTotalSaving(const RunLength& run, Finding& finding);

}  // namespace xlaprof
