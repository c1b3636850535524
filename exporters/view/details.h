// Encodes the arguments and flows of all events, and the totals of merged lanes, for a file without
// a server (docs/formats/view.md, "In a file").
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

// Returns the exact totals by name of each lane whose slices EncodeSlices merges.
absl::StatusOr<std::string> EncodeTotals(const Store& store, const ViewLanes& lanes);

}  // namespace xlaprof
