// Lanes for the events of one track. Viewers draw a track's events as a tree: each lies inside
// another or beside it. Events that overlap otherwise need tracks of their own, or they are dropped
// (Perfetto) or drawn over each other (chrome://tracing).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace xlaprof {

class Lanes {
 public:
  // Whether an event may lie in a lane inside another. Without nesting a lane holds one event at a
  // time.
  enum class Nesting { kAllowed, kNone };
  explicit Lanes(Nesting nesting = Nesting::kAllowed)
      : nested_lanes_(nesting == Nesting::kAllowed ? 32 : 0) {}

  // The lane of an event from `ts_ns` to before `end_ns` (INT64_MAX: never ended): 0 where it nests
  // there, else the first in which it does. Events come by start, then the longest first.
  size_t Place(int64_t ts_ns, int64_t end_ns) {
    // What most events are: nested in the first lane.
    if (!nested_.empty() && PlaceIn(nested_[0], ts_ns, end_ns)) [[likely]]
      return 0;
    return PlaceFurther(ts_ns, end_ns);
  }
  // Lanes that were given.
  size_t count() const { return nested_.size() + single_count_; }

 private:
  static bool PlaceIn(std::vector<int64_t>& open, int64_t ts_ns, int64_t end_ns) {
    while (!open.empty() && open.back() <= ts_ns) open.pop_back();
    if (!open.empty() && open.back() < end_ns) return false;
    if (end_ns > ts_ns) open.push_back(end_ns);
    return true;
  }
  size_t PlaceFurther(int64_t ts_ns, int64_t end_ns);

  // Beyond these a lane holds one event at a time, so that thousands of open events cost
  // logarithmic time.
  size_t nested_lanes_;
  std::vector<std::vector<int64_t>> nested_;  // ends of the open events of a lane, outermost first
  std::priority_queue<std::pair<int64_t, size_t>, std::vector<std::pair<int64_t, size_t>>,
                      std::greater<>>
      single_;  // end of the event in a lane, and the lane
  size_t single_count_ = 0;
};

}  // namespace xlaprof
