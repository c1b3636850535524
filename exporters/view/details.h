// Encodes the arguments and flows of all events, for a file without a server (docs/formats/view.md,
// "In a file").
#pragma once

#include <string>

#include "exporters/view/lanes.h"

namespace xlaprof {

struct EncodedArguments {
  std::string bytes;  // "" if no event has an argument
  int64_t damaged_chunks = 0;
};
absl::StatusOr<EncodedArguments> EncodeArguments(const Store& store, const ViewLanes& lanes);

struct EncodedFlows {
  std::string bytes;  // "" if there are no flows
  bool more = false;  // there are more than a page holds
};
absl::StatusOr<EncodedFlows> EncodeFlows(const Store& store);

}  // namespace xlaprof
