// Events by name: how many, how long, and how much of that is their own (docs/formats/view.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "exporters/view/lanes.h"

namespace xlaprof {

// Of the events of one name, the parts that lie inside a range of time.
struct NameTotals {
  StringId name = 0, category = 0;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;  // without the events that lie in them, one row below
  int64_t p99_ns = 0, max_ns = 0;
  int64_t mean_ns() const { return count == 0 ? 0 : total_ns / count; }
};

// Longest first. Events of `lanes` that overlap [from_ns, to_ns), which are the view's times; an
// instant counts where it lies. `only`: of one name; 0: of all.
absl::StatusOr<std::vector<NameTotals>> TotalsByName(const Store& store, const ViewLanes& lanes,
                                                     const std::vector<int64_t>& lane_ids,
                                                     int64_t from_ns, int64_t to_ns,
                                                     StringId only = 0);

nlohmann::ordered_json TotalsJson(const Store& store, const NameTotals& totals);

// The answer to `range`.
absl::StatusOr<std::string> RangeJson(const Store& store, const ViewLanes& lanes,
                                      const std::vector<int64_t>& lane_ids, int64_t from_ns,
                                      int64_t to_ns);

}  // namespace xlaprof
