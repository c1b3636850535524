// Finds on how many devices each graph ran. A lazy runtime compiles a graph once for each of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analyzers/run/run.h"

namespace xlaprof {

struct ProgramDevices {
  std::map<std::pair<int64_t, std::string>, int64_t> counts;  // by process and hash

  // Returns the number of devices, or 1 if it is not known.
  int64_t Of(int64_t process_id, const std::string& hash) const {
    const auto found = counts.find({process_id, hash});
    return found == counts.end() ? 1 : found->second;
  }

  static absl::StatusOr<ProgramDevices> Of(const Run& run);
};

}  // namespace xlaprof
