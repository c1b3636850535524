// The figures and words of incomplete_capture. The type of a finding's reason says what is missing
// or distorted.
#pragma once

#include <string>

#include "analyzers/finding.h"
#include "base/source_place.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Each member is set only for the reasons in the comment above it.
struct IncompleteCaptureFigures {
  // no_device
  std::string message;     // of the error
  SourcePlace printed_at;  // its line in a log
  // no_executions
  bool counts_executions = false;  // counters do, but no metric times them
  // capped
  int64_t event_limit = 0;
  // window
  int64_t executions = 0, timed_executions = 0;
  // inside_compile
  std::string module;     // the program that was compiled, as XLA names it
  int64_t passes_ns = 0;  // from the first to the last pass of its compilation
  int64_t window_ns = 0;  // the length of the profile
  // no_kernels
  int64_t launches = 0;
  // no_step_markers
  bool steps_are_known = false;   // another source counts steps
  bool steps_are_traced = false;  // another source shows that steps end with StepTrace
  // no_step_markers, recording_overhead
  bool is_torch_profile = false;  // the profile was taken by PyTorch's own profiler
  // recording_overhead
  SettingName setting = SettingName::kUnknown;
  std::string setting_value, setting_evidence;

  // All reasons: `xlaprof run` recorded the run, so the advice is about its options.
  bool is_recorded_by_run = false;
};

// Says which facts the sources do not show, what that hides, and how to capture them.
Words SayIncompleteCapture(const Finding& finding, Framework framework);

}  // namespace xlaprof
