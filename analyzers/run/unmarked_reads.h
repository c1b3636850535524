// Reads of a program that marks no step: each evaluates all that was recorded since the start.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

struct UnmarkedRead {
  int64_t id = 0;  // of the execution
  OptInt nodes;
  OptInt site_id;
  OptInt dur_ns;  // on the device; where that is unknown, how long the host waited
};

struct UnmarkedReads {
  std::vector<UnmarkedRead> reads;  // in order; none or at least three
  OptInt first_nodes() const { return reads.front().nodes; }
  OptInt last_nodes() const { return reads.back().nodes; }
  bool grow() const;  // the last graph is clearly larger than the first

  // Returns no reads if the process marks steps, or reads so seldom that growth cannot be told from
  // warm-up.
  static absl::StatusOr<UnmarkedReads> Of(const Run& run, int64_t process_id);
};

}  // namespace xlaprof
