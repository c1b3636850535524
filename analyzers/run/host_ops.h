// The ops that the host's threads ran, for a profile in which no device was recorded.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>

#include "analyzers/run/device_ops.h"
#include "analyzers/run/run.h"

namespace xlaprof {

struct HostOps {
  // The ops of the thread that spent most time in them, such as aten::mm, with their time without
  // the ops inside. Empty if a device was recorded.
  absl::flat_hash_map<StringId, DeviceOp> ops;
  int64_t process_id = 0;  // of this thread
  int64_t work_ns = 0;     // the sum of their times without the ops inside
  Interval span;           // from the first to the last op
  int64_t launches = 0;    // calls of all threads that launch a kernel on a GPU

  static absl::StatusOr<HostOps> Of(const Run& run);
};

}  // namespace xlaprof
