// Commits and copies the recording that runs in this process, for callers that did not start it.
#pragma once

#include <filesystem>

#include "profiler/record/record.h"

namespace xlaprof {

struct CurrentRecording {
  std::filesystem::path path;
  int64_t now_ns = 0;  // in the store's time, before the commit
  RecordStats stats;   // up to the commit
};

// Commits everything that was completed until now, so that readers of the store find it. Returns
// NotFound if nothing is being recorded, and Unavailable, with the reason, if it could not be
// written within `timeout_ns`. Blocks only the caller, until the writing thread has committed.
absl::StatusOr<CurrentRecording> CommitRecording(int64_t timeout_ns = 10'000'000'000);
// Does the same, and then copies the store to the new file `to`.
absl::StatusOr<CurrentRecording> CopyRecording(const std::filesystem::path& to);

}  // namespace xlaprof
