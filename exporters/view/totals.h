// Sums events by name: their count, total time and self time (docs/formats/view.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "exporters/view/lanes.h"

namespace xlaprof {

// Totals of the events of one name, over the parts inside a range of time.
struct NameTotals {
  StringId name = 0, category = 0;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;  // excludes nested events one row below
  int64_t p99_ns = 0, max_ns = 0;
  int64_t mean_ns() const { return count == 0 ? 0 : total_ns / count; }
};

// Returns totals, the longest first, of the events of `lane_ids` that overlap [from_ns, to_ns) in
// the view's time. An instant counts if it lies in the range. `only` selects a name; 0 means all.
absl::StatusOr<std::vector<NameTotals>> TotalsByName(const Store& store, const ViewLanes& lanes,
                                                     const std::vector<int64_t>& lane_ids,
                                                     int64_t from_ns, int64_t to_ns,
                                                     StringId only = 0);

nlohmann::ordered_json TotalsJson(const Store& store, const NameTotals& totals);

// Returns the answer to `range`.
absl::StatusOr<std::string> RangeJson(const Store& store, const ViewLanes& lanes,
                                      const std::vector<int64_t>& lane_ids, int64_t from_ns,
                                      int64_t to_ns);

}  // namespace xlaprof
