// The recording that runs in this process, for who did not start it.
#pragma once

#include <filesystem>

#include "profiler/record/record.h"

namespace xlaprof {

struct CurrentRecording {
  std::filesystem::path path;
  int64_t now_ns = 0;  // in the store's times, before the commit
  RecordStats stats;   // up to the commit
};

// Has everything committed that was completed until now, so that readers of the store find it.
// NotFound while nothing is recorded; Unavailable, with the reason, where it could not be written
// within `timeout_ns`. Waits for the thread that writes, and holds up nobody else.
absl::StatusOr<CurrentRecording> CommitRecording(int64_t timeout_ns = 10'000'000'000);

}  // namespace xlaprof
