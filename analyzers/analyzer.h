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
#include "core/base/status.h"

namespace xlaprof {

// The facts without which an analyzer has nothing to look at.
enum class Needs {
  kNothing,
  kDevices,                 // times of a device's work
  kTimedSteps,              // a timeline with steps
  kTimedStepsOrTracing,     // or metrics that time the tracing
  kTimelineOrCompileTimes,  // a timeline, or metrics that time compilations
  kTimelineOrExecuteTimes,  // a timeline, or metrics that time executions
};

struct Analyzer {
  const char* name;      // the kind of its findings
  const char* summary;   // one line
  const char* meaning;   // what such a finding means for the program, in two or three sentences
  const char* looks_at;  // what it needs, as a person would say it: "compiles, graphs and metrics"
  absl::StatusOr<Findings> (*find)(const Run& run);
  // The words of a finding of this analyzer.
  Words (*say)(const Finding& finding, Framework framework);
  Needs needs = Needs::kNothing;
  std::vector<PrintedThreshold> thresholds = {};  // that decide, for docs/diagnoses/
  bool is_from_timeline = false;  // costs are measured on the timeline alone, so inside its window
  bool is_paid_once = false;      // a share of each step would say nothing of its cost
  bool is_about_capture = false;  // findings are about what was captured, not about the program
};

std::span<const Analyzer* const> AllAnalyzers();

// The framework of the run's program. It is C++ if the user's lines are, or if the run has no lines
// and only our own recorder was read.
absl::StatusOr<Framework> FrameworkOf(const Run& run);

// Runs one analyzer and gives its findings their words; in the order in which it found them.
absl::StatusOr<Findings> Analyze(const Run& run, const Analyzer& analyzer);

// Runs all analyzers and puts their findings in the report's order: info last; of each, priced ones
// first, dearest on top; then by severity, per_step, kind, subject. Sets fingerprints.
absl::StatusOr<Findings> Analyze(const Run& run);

// The fingerprint of a finding: of kind, reason type and subject without line numbers or times, so
// that it survives edits elsewhere in the file and another run.
std::string Fingerprint(const Finding& finding);

}  // namespace xlaprof
