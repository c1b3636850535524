// Finds the work that a lazy program does twice: the nodes of a graph that a read evaluated before
// the step mark, and that the step's own graph contains again.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct RepeatedWork {
  // By id of an early execution: the share of its nodes that the step's graph has again, from 0 to
  // 1; 0 if its step ended without a graph. Executions whose graphs were not printed are missing.
  absl::flat_hash_map<int64_t, double> share;

  // Returns the share, or nothing if it is not known.
  std::optional<double> Of(int64_t execution_id) const;

  static absl::StatusOr<RepeatedWork> Of(const Run& run);
};

}  // namespace xlaprof
