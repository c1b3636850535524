// Finds the next or previous event whose name contains a text (docs/formats/view.md).
#pragma once

#include <string>
#include <string_view>

#include "exporters/view/lanes.h"

namespace xlaprof {

struct SearchAsked {
  std::string_view text;  // ASCII case is ignored; "" finds nothing
  bool backwards = false;
  int64_t ts_ns = 0, id = 0;  // the place to continue from, in the view's time
};

// Returns the answer to `search`.
absl::StatusOr<std::string> SearchJson(const Store& store, const ViewLanes& lanes,
                                       const SearchAsked& asked);

}  // namespace xlaprof
