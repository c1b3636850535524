// Recognises a program that cuts each iteration into the same pieces. The graphs of the pieces
// differ, but none of them is a new form of another.
#pragma once

#include <map>
#include <set>
#include <string>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct IterationPieces {
  // The processes that execute all of their graphs in the same order again and again.
  std::set<int64_t> processes;
  // The hashes of the graphs that one place executes one after the other in nearly each of its
  // steps, by process. A step mark inside a model's layers does so.
  std::map<int64_t, std::set<std::string>> graphs;

  // Returns whether the graph is such a piece of the process.
  bool Contain(int64_t process_id, const std::string& hash) const;

  static absl::StatusOr<IterationPieces> Of(const Run& run);
};

}  // namespace xlaprof
