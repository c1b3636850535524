// Compares two graphs side by side, line by line, for people: the lines that differ, and a few
// lines around them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct GraphSidesRow {
  enum State { kSame, kDiffers, kOrigin };  // kOrigin: differs, but not in its inputs
  OptText before, after;                    // empty: only the other graph has it
  State state = kSame;
  OptText location;      // in the user's code; the newer node's, if it is known
  int64_t left_out = 0;  // number of equal nodes that this row replaces; the rest is empty then
};

struct GraphSides {
  std::string before, after;  // titles: "graph 3f2a…, 120 nodes"
  std::vector<GraphSidesRow> rows;
  int64_t omitted = 0;  // further rows, left out because there are too many
};

// Compares two rows of table graph. Returns NotFound if one does not exist.
absl::StatusOr<GraphSides> CompareSides(const Store& store, int64_t before_id, int64_t after_id);

}  // namespace xlaprof
