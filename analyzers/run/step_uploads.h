// Finds out which tensors the thread that makes the steps uploads in each of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct StepUploads {
  std::vector<int64_t> starts_ns;  // of the uploads by the leading thread (HostTimeline), sorted
  bool has_others = false;         // other threads upload as well, as a loader does
  OptReal usual_bytes, largest_bytes;  // of one upload; empty if no source tells sizes
  double per_step = 0;                 // of all threads; 0: unknown
  // The inputs of the graph that the run executes most, if their size and number identify them as
  // what is uploaded. They have a place in the user's code.
  std::optional<InputsOfLine> inputs;

  static absl::StatusOr<StepUploads> Of(const Run& run, int64_t process_id);
};

}  // namespace xlaprof
