// Finds places whose programs take turns, as those of buckets do.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analyzers/recompile/compile_sites.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// Says of the executions at each place how many ran another program than the execution before.
class Turns {
 public:
  static absl::StatusOr<Turns> Of(const Run& run);

  // Returns whether the programs of a place take turns.
  bool AreTakenAt(const CompileSite& site) const;

 private:
  struct Place {
    int64_t executions = 0, others = 0;
    std::string last;
  };
  std::map<std::pair<int64_t, OptInt>, Place> places_;
};

}  // namespace xlaprof
