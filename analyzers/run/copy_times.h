// Finds how long the copies of programs took on each device.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/device_ops.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// What is needed of a program to find the times of its copies. Its ops have dense numbers.
struct CopyingProgram {
  std::vector<std::string> ops;                      // names, such as copy.3; "": has no events
  std::vector<char> is_copy;                         // by op
  std::vector<std::vector<int>> users;               // the ops that wait for an op's result
  std::map<DeviceKey, std::vector<Interval>> times;  // its executions, sorted by start
};

struct CopyTimes {
  // Time in which copies were under way. While other ops of the program run at the same time, the
  // copies count with their share of all ops that are under way.
  int64_t copy_ns = 0;
  int64_t copies = 0;             // number of copies
  std::vector<Evidence> longest;  // the longest copies
};

// Returns the times of the copies of each program, by its number, on each device. A copy on a host
// thread lasts until its last part is done (AsyncOps), or until an op starts that waits for it.
absl::StatusOr<std::map<std::pair<size_t, DeviceKey>, CopyTimes>> CopyTimesOf(
    const Run& run, const std::vector<CopyingProgram>& programs);

}  // namespace xlaprof
