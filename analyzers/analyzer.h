// Defines what an analyzer is. There is one file per diagnosis: `analyzers/NAME.cc` defines `extern
// const Analyzer NAME{...}`, and its name is in the list of analyzers/CMakeLists.txt. An analyzer
// is a pure function of the facts of a run (analyzers/run/): its findings have a total order, and
// it reads no clock.
#pragma once

#include <span>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/policy.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// The facts without which an analyzer has nothing to analyse.
enum class Needs {
  kNothing,
  kReads,                   // executions, transfers or counters, in which a read would be seen
  kDevices,                 // times of a device's work
  kStepPeriods,             // a timeline with steps, or with the executions of steps
  kTimedStepsOrTracing,     // a timeline with steps, or metrics that time tracing
  kTimelineOrCompileTimes,  // a timeline, or metrics that time compilations
  kTimelineOrExecuteTimes,  // a timeline, or metrics that time executions
  kOptimizedPrograms,       // optimised HLO
  kTorchCompile,            // functions under torch.compile
  kLazyRuntime,             // what our own runtime announces, in a recording
};

// Returns whether reports name a check that lacks what it needs. They do not name one that most programs
// have no use for.
constexpr bool IsNamedWithout(Needs needs) {
  return needs != Needs::kOptimizedPrograms && needs != Needs::kTorchCompile &&
         needs != Needs::kLazyRuntime;
}

struct Analyzer {
  const char* name;      // the kind of its findings
  const char* summary;   // one line
  const char* meaning;   // what such a finding means for the program, in two or three sentences
  const char* looks_at;  // what it needs, in plain words: "compiles, graphs and metrics"
  absl::StatusOr<Findings> (*find)(const Run& run);
  // Returns the words of a finding of this analyzer.
  Words (*say)(const Finding& finding, Framework framework);
  Needs needs = Needs::kNothing;
  std::vector<PrintedThreshold> thresholds = {};  // for docs/diagnoses/
  bool is_from_timeline = false;  // costs come from the timeline alone, so from its window
  bool is_paid_once = false;      // the cost occurs once, so it is not divided by steps
  SpentOn spent_on = SpentOn::kBlocked;
  bool is_about_capture = false;  // findings are about the capture, not about the program
};

std::span<const Analyzer* const> AllAnalyzers();

// Returns the framework of the run's program. It is C++ if the user's lines are in C++ files, or if
// the run has no lines and only our own recorder's data were read.
absl::StatusOr<Framework> FrameworkOf(const Run& run);

// Runs one analyzer and sets the words of its findings. Returns them in the order in which it found
// them.
absl::StatusOr<Findings> Analyze(const Run& run, const Analyzer& analyzer);

// Runs all analyzers, links each finding to the one that explains it, and sorts the findings as the
// report does. Findings of severity info come last, and those that stop the program first. Within
// each part the most expensive come first, and those without a cost last. Ties are ordered by
// severity, per_step, count if there is no cost, kind and subject. A finding that follows from
// another comes after it.
absl::StatusOr<Findings> Analyze(const Run& run);

// Returns the fingerprint of a finding. It depends on kind, reason type and subject, but not on
// line numbers or times, so it survives other runs and edits elsewhere in the file.
std::string Fingerprint(const Finding& finding);
// Sets the fingerprints of all findings of a run. If several findings of one kind are in one
// function, the first by line keeps the plain fingerprint, and the others are numbered.
void SetFingerprints(Findings& findings);

}  // namespace xlaprof
