// Events whose name holds a text, one after the other (docs/formats/view.md).
#pragma once

#include <string>
#include <string_view>

#include "exporters/view/lanes.h"

namespace xlaprof {

struct SearchAsked {
  std::string_view text;  // case of ASCII is ignored; "": finds nothing
  bool backwards = false;
  int64_t ts_ns = 0, id = 0;  // where to go on from; the view's time
};

// The answer to `search`.
absl::StatusOr<std::string> SearchJson(const Store& store, const ViewLanes& lanes,
                                       const SearchAsked& asked);

}  // namespace xlaprof
