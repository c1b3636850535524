// The arguments and flows of all events, for a file that must answer for itself
// (docs/formats/view.md, "In a file").
#pragma once

#include <string>

#include "exporters/view/lanes.h"

namespace xlaprof {

// "" where no event has an argument.
absl::StatusOr<std::string> EncodeArguments(const Store& store, const ViewLanes& lanes);

struct EncodedFlows {
  std::string bytes;     // "" where there are none
  int64_t left_out = 0;  // arrows, because there are millions
};
absl::StatusOr<EncodedFlows> EncodeFlows(const Store& store);

}  // namespace xlaprof
