// The length of a run, with which costs are compared.
#pragma once

#include <cstdint>
#include <map>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct RunTimes {
  // By process: from its first to its last step, compilation or execution that has a time; or as long
  // as `xlaprof run` observed it.
  std::map<int64_t, int64_t> by_process;
  // The same without what `xlaprof run` observed: as long as a profile of a part of the run covers.
  std::map<int64_t, int64_t> timed_by_process;

  // Returns the time of the process, or nothing if nothing in it was timed.
  OptInt Of(int64_t process_id) const;
  // Returns the time of the process that was timed longest.
  OptInt longest() const;

  static absl::StatusOr<RunTimes> Of(const Run& run);
};

}  // namespace xlaprof
