// Finds what busy devices spend their time on: the ops and kernels with the most time of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/run/device_ops.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// The ops or kernels of one name on one device. The numbers that XLA appends do not count, so
// fusion.2 and fusion.5 are one.
struct TopOp {
  std::string name;
  std::string category;  // such as "convolution fusion" or "communication"; "" if not known
  // The source line and the path of scopes of the member with most time; "" if not known.
  std::string location, scope;
  std::string instruction;  // HLO's name of that member, with its number; "" without details
  int64_t count = 0;
  int64_t self_ns = 0;  // without the ops inside it
  double share = 0;     // of the device's busy time
};

struct DeviceTop {
  DeviceKey key;
  std::string label;         // DeviceTime's
  double busy_share = 0;     // of the time from its first to its last work
  int64_t span_ns = 0;       // that time
  std::vector<TopOp> ops;    // longest first, at most kTopOps
  int64_t other_names = 0;   // names that are left out
  double other_share = 0;    // their share of the busy time
  double unnamed_share = 0;  // the share that lies in no op
};
inline constexpr size_t kTopOps = 5;

// The devices that are busy for more than half of their time and whose ops have names, the busiest
// first. If no device was recorded, this is the host with its ops. The shares of one device sum to
// at most 1. If ops overlap, on streams or threads, they are shares of the sum of their times.
struct TopOps {
  std::vector<DeviceTop> devices;

  static absl::StatusOr<TopOps> Of(const Run& run);
};

}  // namespace xlaprof
