// Hands other threads' requests for a commit to the recording's thread. Internal to
// profiler/record.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "profiler/record/record.h"

namespace xlaprof::record {

// This object may outlive the recording.
class CommitRequests {
 public:
  // Waits until everything completed before the call is committed to the store at `path`. Returns
  // the stats up to that commit. Returns Unavailable, with the reason, after `timeout_ns`.
  absl::StatusOr<RecordStats> Await(const std::filesystem::path& path, int64_t timeout_ns);

  // For the recording's thread: how many requests there were, and whether any of them is
  // unanswered.
  struct Waiting {
    uint64_t asked = 0;
    bool any = false;
  };
  Waiting waiting();
  // Answers the first `asked` requests, after a commit of what was taken since they were made, or
  // with an error.
  void Answer(uint64_t asked, const absl::StatusOr<RecordStats>& stats);

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  uint64_t asked_ = 0, committed_ = 0;
  absl::Status error_;  // why the last commit failed
  RecordStats stats_;   // stats of the last successful commit
};

}  // namespace xlaprof::record
