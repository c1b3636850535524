#include "profiler/record/commit_requests.h"

#include <chrono>

namespace xlaprof::record {

absl::StatusOr<RecordStats> CommitRequests::Await(const std::filesystem::path& path,
                                                  int64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++asked_;
  if (!done_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                      [&] { return committed_ >= mine; })) {
    return IoError("{}: nothing could be committed for {} s{}{}", path.string(),
                   timeout_ns / 1'000'000'000, error_.ok() ? "" : ": ",
                   std::string(Message(error_)));
  }
  return stats_;
}

CommitRequests::Waiting CommitRequests::waiting() {
  std::lock_guard lock(mutex_);
  return {asked_, asked_ != committed_};
}

void CommitRequests::Answer(uint64_t asked, const absl::StatusOr<RecordStats>& stats) {
  std::lock_guard lock(mutex_);
  if (asked == committed_) return;
  error_ = stats.status();
  if (stats.ok()) {
    committed_ = asked;
    stats_ = *stats;
  }
  done_.notify_all();
}

}  // namespace xlaprof::record
