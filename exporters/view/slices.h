// What the viewer draws: slices of lanes at a resolution, in binary (docs/formats/view.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exporters/view/lanes.h"

namespace xlaprof {

struct SlicesAsked {
  std::vector<int64_t> lanes;      // unknown ones are left out of the answer
  int64_t from_ns = 0, to_ns = 0;  // the view's times
  int64_t resolution_ns = 0;       // shorter slices are merged; 0: none
};

// Lanes with at most so many events come whole, whatever part is asked for.
inline constexpr int64_t kWholeLaneEvents = 4096;

absl::StatusOr<std::string> EncodeSlices(const Store& store, const ViewLanes& lanes,
                                         const SlicesAsked& asked);

}  // namespace xlaprof
