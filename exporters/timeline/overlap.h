// Assigns the events of one track to lanes. Viewers draw a track's events as a tree, in which each
// event lies inside another or beside it. Events that overlap otherwise need a track of their own.
// On one track Perfetto would drop them, and chrome://tracing would draw them over each other.
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
  // Says whether events of a lane may nest. Without nesting a lane holds one event at a time.
  enum class Nesting { kAllowed, kNone };
  explicit Lanes(Nesting nesting = Nesting::kAllowed)
      : nested_lanes_(nesting == Nesting::kAllowed ? 32 : 0) {}

  // Returns the lane of an event from `ts_ns` to before `end_ns` (INT64_MAX: it never ended): 0 if
  // the event nests there, otherwise the first lane where it does. Events must come by start, then
  // the longest first.
  size_t Place(int64_t ts_ns, int64_t end_ns) {
    // Most events nest in the first lane.
    if (!nested_.empty() && PlaceIn(nested_[0], ts_ns, end_ns)) [[likely]]
      return 0;
    return PlaceFurther(ts_ns, end_ns);
  }
  // Returns the number of lanes in use.
  size_t count() const { return nested_.size() + single_count_; }

 private:
  static bool PlaceIn(std::vector<int64_t>& open, int64_t ts_ns, int64_t end_ns) {
    while (!open.empty() && open.back() <= ts_ns) open.pop_back();
    if (!open.empty() && open.back() < end_ns) return false;
    if (end_ns > ts_ns) open.push_back(end_ns);
    return true;
  }
  size_t PlaceFurther(int64_t ts_ns, int64_t end_ns);

  // In lanes beyond these, only one event is open at a time, so that thousands of open events cost
  // logarithmic time.
  size_t nested_lanes_;
  std::vector<std::vector<int64_t>> nested_;  // per lane: ends of its open events, outermost first
  std::priority_queue<std::pair<int64_t, size_t>, std::vector<std::pair<int64_t, size_t>>,
                      std::greater<>>
      single_;  // end of a lane's event, and the lane
  size_t single_count_ = 0;
};

}  // namespace xlaprof
