// Recognises a program that cuts each iteration into the same pieces, if no source names the places
// at which it cuts. The graphs of the pieces differ, but none of them is a new form of another.
#pragma once

#include <set>

#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// The processes that execute all of their graphs in the same order again and again.
struct IterationPieces {
  std::set<int64_t> processes;

  static absl::StatusOr<IterationPieces> Of(const Run& run);
};

}  // namespace xlaprof
