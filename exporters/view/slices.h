// Encodes the slices of lanes that the viewer draws, at a resolution, in binary
// (docs/formats/view.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exporters/view/lanes.h"

namespace xlaprof {

struct SlicesAsked {
  std::vector<int64_t> lanes;      // the answer omits unknown ones
  int64_t from_ns = 0, to_ns = 0;  // the view's time
  int64_t resolution_ns = 0;       // shorter slices are merged; 0: none are
};

// Lanes with at most this many events are returned whole, whatever part the request names.
inline constexpr int64_t kWholeLaneEvents = 4096;

absl::StatusOr<std::string> EncodeSlices(const Store& store, const ViewLanes& lanes,
                                         const SlicesAsked& asked);

}  // namespace xlaprof
