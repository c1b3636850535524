// How often each process copied arrays of each size to a device.
#pragma once

#include <cstdint>
#include <map>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct UploadSizes {
  using Counts = std::map<int64_t, int64_t>;  // uploads, by bytes
  std::map<int64_t, Counts> by_process;

  static absl::StatusOr<UploadSizes> Of(const Run& run);
};

}  // namespace xlaprof
