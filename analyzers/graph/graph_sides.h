// Two graphs side by side, line by line, for people: what differs and a few lines around it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct GraphSidesRow {
  enum State { kSame, kDiffers, kOrigin };  // kOrigin: differs, and what it reads does not
  OptText before, after;                    // empty: only the other graph has it
  State state = kSame;
  OptText location;      // of the user's code, of the newer node first
  int64_t left_out = 0;  // so many nodes that are the same stand here; then all else is empty
};

struct GraphSides {
  std::string before, after;  // titles: "graph 3f2a…, 120 nodes"
  std::vector<GraphSidesRow> rows;
  int64_t omitted = 0;  // rows behind the last one, because there are too many
};

// Compares two rows of table graph. Returns NotFound if one does not exist.
absl::StatusOr<GraphSides> CompareSides(const Store& store, int64_t before_id, int64_t after_id);

}  // namespace xlaprof
