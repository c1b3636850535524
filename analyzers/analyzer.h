// What an analyzer is. One file a diagnosis: `analyzers/NAME.cc` defines `extern const Analyzer
// NAME{...}` and its name stands in analyzers/CMakeLists.txt. A pure function of the store: typed
// rows, a total order, no clock, no output.
#pragma once

#include <span>

#include "analyzers/finding.h"
#include "core/base/status.h"
#include "profiler/store/events.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct Analyzer {
  const char* name;      // the kind of its findings
  const char* summary;   // one line
  const char* looks_at;  // what it needs, as a person would say it: "compiles, graphs and metrics"
  absl::StatusOr<Findings> (*run)(const Store& store);
};

std::span<const Analyzer* const> AllAnalyzers();

// Runs all analyzers and puts their findings in the report's order: info last; of each, priced ones
// first, dearest on top; then by severity, per_step, kind, subject. Sets fingerprints.
absl::StatusOr<Findings> Analyze(const Store& store);

// The fingerprint of a finding: of kind, reason type and subject without line numbers or times, so
// that it survives edits elsewhere in the file and another run.
std::string Fingerprint(const Finding& finding);

}  // namespace xlaprof
