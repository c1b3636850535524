// Settings of the recorded run that make the host slower than it is in normal runs, and what of its
// time they explain.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// Settings that slow the host down.
struct SlowSettings {
  bool ir_debug = false;       // XLA_IR_DEBUG or XLA_HLO_DEBUG: a Python stack is taken for each op
  bool dumps = false;          // XLA_SAVE_TENSORS_FILE: the graph is printed to a file at each sync
  bool python_tracer = false;  // each Python call is an event
  // PT_XLA_DEBUG: the C++ stack of each fallback (reads too) is written to a file.
  bool fallback_stacks = false;

  bool slow_tracing() const { return ir_debug || dumps || python_tracer; }
};

// The same, and what of the host's time they explain.
struct CaptureSettings : SlowSettings {
  // Most ops that one graph holds from a user scope (its plain name): the ops that a pass through
  // the scope traces.
  std::map<std::string, int64_t, std::less<>> ops_in_scope;

  // Reads before the step mark from a user scope, in the whole run.
  std::map<std::string, int64_t, std::less<>> reads_in_scope;

  // Longest time that one pass through `scope` may have spent tracing under these settings; 0
  // without them.
  int64_t TracingBoundNs(std::string_view scope) const;
  // Longest time that all reads in `scope` may have spent writing stacks; 0 without that setting.
  int64_t FallbackBoundNs(std::string_view scope) const;

  static absl::StatusOr<CaptureSettings> Of(const Run& run);
};

}  // namespace xlaprof
