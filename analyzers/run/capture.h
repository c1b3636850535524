// How the run was captured: with which settings, and which part of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// Settings of the recorded run that make the host slower than in normal runs.
struct SlowSettings {
  bool ir_debug = false;       // XLA_IR_DEBUG or XLA_HLO_DEBUG: a Python stack is taken for each op
  bool dumps = false;          // XLA_SAVE_TENSORS_FILE: the graph is printed to a file at each sync
  bool python_tracer = false;  // each Python call is an event
  // PT_XLA_DEBUG: the C++ stack of each fallback, and of each read, is written to a file.
  bool fallback_stacks = false;

  // Only a Chrome trace without graphs was read, so it is not known whether XLA_IR_DEBUG or
  // XLA_HLO_DEBUG was on.
  bool may_slow_tracing = false;

  bool slow_tracing() const { return ir_debug || dumps || python_tracer; }
};

// These settings, and the part of the host's time that they explain.
struct CaptureSettings : SlowSettings {
  // By plain name of a user scope: the most ops that one graph has from it. This is the number of
  // ops that one pass through the scope traces.
  std::map<std::string, int64_t, std::less<>> ops_in_scope;

  // By user scope: the number of reads before the step mark, in the whole run.
  std::map<std::string, int64_t, std::less<>> reads_in_scope;

  // Returns the longest time that one pass through `scope` may have spent on tracing under these
  // settings, or 0 without them.
  int64_t TracingBoundNs(std::string_view scope) const;
  // Returns the longest time that all reads in `scope` may have spent on writing stacks, or 0
  // without that setting.
  int64_t FallbackBoundNs(std::string_view scope) const;

  static absl::StatusOr<CaptureSettings> Of(const Run& run);
};

// The time of each process that a capture shows of its program.

// From the first start to the last end of a process's events inside the chosen part. Starting and
// stopping the profiler at the edges is left out, and so is making the device's context at the
// beginning, as long as no step and no work of a device falls into that time.
struct CaptureWindows {
  std::map<int64_t, Interval> by_process;

  static absl::StatusOr<CaptureWindows> Of(const Run& run);
};

}  // namespace xlaprof
