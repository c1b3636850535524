// Commits of a recording that other threads ask for. Internal to profiler/record.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "profiler/record/record.h"

namespace xlaprof::record {

// May outlive the recording that is asked.
class CommitRequests {
 public:
  // Waits until what was completed before the call is committed to the store at `path`: the stats
  // up to there. Unavailable, with the reason, after `timeout_ns`.
  absl::StatusOr<RecordStats> Await(const std::filesystem::path& path, int64_t timeout_ns);

  // Of the recording's thread: how many have asked, and whether all of them were answered.
  struct Waiting {
    uint64_t asked = 0;
    bool any = false;
  };
  Waiting waiting();
  // To the first `asked`, after a commit of what was taken since they asked, or an error.
  void Answer(uint64_t asked, const absl::StatusOr<RecordStats>& stats);

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  uint64_t asked_ = 0, committed_ = 0;
  absl::Status error_;  // why the last one failed
  RecordStats stats_;   // of the last one that did not
};

}  // namespace xlaprof::record
