// Finds uploads from pageable memory in a profile of kernels. The driver copies such memory through
// a buffer of its own, so the call that asks for the copy blocks its thread.
#pragma once

#include <cstdint>

#include "analyzers/run/run.h"

namespace xlaprof {

struct PageableUploads {
  int64_t count = 0;
  int64_t blocked_ns = 0;     // time of the calls on the host
  int64_t longest_ns = 0;     // the longest of them
  int64_t longest_ts_ns = 0;  // its start
  static absl::StatusOr<PageableUploads> Of(const Run& run);
};

}  // namespace xlaprof
