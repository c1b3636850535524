#include "exporters/timeline/overlap.h"

namespace xlaprof {

size_t Lanes::PlaceFurther(int64_t ts_ns, int64_t end_ns) {
  for (size_t lane = 0; lane < nested_lanes_; ++lane) {
    if (lane == nested_.size()) nested_.emplace_back();
    if (PlaceIn(nested_[lane], ts_ns, end_ns)) return lane;
  }
  size_t lane = nested_lanes_ + single_count_;
  if (!single_.empty() && single_.top().first <= ts_ns) {
    lane = single_.top().second;
    single_.pop();
  } else {
    ++single_count_;
  }
  single_.emplace(end_ns, lane);
  return lane;
}

}  // namespace xlaprof
