// Finds the graphs that were compiled only because a value is read before the step mark. Their
// compiles are no recompiles, because each of these reads has a graph of its own.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct ReadCompiles {
  // By process and hash: the share of the graph's nodes that the step's own graph contains again,
  // if it is known. Graphs of which it contains little are missing, because without the read, they
  // would be compiled at another place.
  std::map<std::pair<int64_t, std::string>, std::optional<double>> graphs;

  static absl::StatusOr<ReadCompiles> Of(const Run& run);
};

}  // namespace xlaprof
