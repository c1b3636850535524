// Reads of a program that marks no step: each evaluates all that was recorded since the start.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct UnmarkedRead {
  int64_t id = 0;  // of the execution
  OptInt nodes;
  OptInt site_id;
  OptInt dur_ns;  // on the device; where that is unknown, how long the host waited
};

struct UnmarkedReads {
  std::vector<UnmarkedRead> reads;  // in order, at least three
  OptInt first_nodes() const { return reads.front().nodes; }
  OptInt last_nodes() const { return reads.back().nodes; }
  bool grow() const;  // the last graph is clearly larger than the first
};

// Empty where the process marks steps, or reads so seldom that growth is not told from warm-up.
absl::StatusOr<std::optional<UnmarkedReads>> LoadUnmarkedReads(const Store& store,
                                                               int64_t process_id);

}  // namespace xlaprof
