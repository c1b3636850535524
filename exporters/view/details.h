// The arguments and flows of all events, for a file that must answer for itself
// (docs/formats/view.md, "In a file").
#pragma once

#include <string>

#include "exporters/view/lanes.h"

namespace xlaprof {

struct EncodedArguments {
  std::string bytes;  // "" where no event has one
  int64_t damaged_chunks = 0;
};
absl::StatusOr<EncodedArguments> EncodeArguments(const Store& store, const ViewLanes& lanes);

struct EncodedFlows {
  std::string bytes;  // "" where there are none
  bool more = false;  // than a page holds
};
absl::StatusOr<EncodedFlows> EncodeFlows(const Store& store);

}  // namespace xlaprof
