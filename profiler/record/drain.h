// The thread of a recording, which drains the rings into the store. Internal to profiler/record.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "profiler/record/collector.h"
#include "profiler/record/commit_requests.h"
#include "profiler/record/record.h"
#include "profiler/record/runtime_facts.h"

namespace xlaprof::record {

// The recording calls Start and Stop, once each. Any thread may call the rest in between.
class Drain {
 public:
  // `path` is the store's absolute path and `given` the path as the user wrote it. `origin_ns` is
  // CLOCK_MONOTONIC at the store's time 0.
  Drain(std::filesystem::path path, std::string given, RecordOptions options, Store store,
        std::unique_ptr<RingFile> file, int64_t origin_ns, uint32_t number);

  // Adds the recording's rows and starts the thread. After an error the store and the rings are
  // removed.
  absl::Status Start();
  // Stops the thread. Everything completed before is then committed, and the store is a single
  // file.
  absl::StatusOr<RecordStats> Stop();

  // Returns the ring of a new thread, or null if there is no room for it; the first failure is
  // reported on stderr.
  std::unique_ptr<Ring> NewRing();
  void RenameProcess(std::string_view name);

  const std::filesystem::path& path() const { return path_; }
  int64_t origin_ns() const { return origin_ns_; }
  uint32_t number() const { return number_; }
  RingFile& file() { return *file_; }
  const std::shared_ptr<CommitRequests>& requests() const { return requests_; }

 private:
  absl::Status AddRows();
  void Collect() { collector_.emplace(*store_, *file_, clock_, recording_id_, process_id_); }
  void Run();
  void Attempt(bool all);
  absl::Status Round(bool all);
  absl::Status Commit();
  absl::Status WriteName();
  absl::Status Look();
  // Says what a recording that ended early leaves: a store with all that was committed, a store that
  // waits for its log and its ring, or nothing.
  enum class Left { kStore, kParts, kNothing };
  void End(Left left, std::string why);
  absl::Status EndHere();
  absl::Status WriteAgain();
  void KeepReady(uint32_t segment);
  void FreeSegments();
  void AddAnchor();
  void Recover();
  absl::Status Finish(RecordStats* stats);
  absl::Status Complete(RecordStats* stats);
  absl::Status WhatIsLost() const;
  absl::StatusOr<RecordStats> Stats() const;  // or why nothing can be committed

  const std::filesystem::path path_;
  const std::string given_;
  const RecordOptions options_;
  std::optional<Store> store_;  // always in a transaction, which keeps related rows together
  const std::unique_ptr<RingFile> file_;
  const int64_t origin_ns_;
  const uint32_t number_;
  const FileIdentity identity_;  // of the store
  Clock clock_;
  int64_t recording_id_ = 0, process_id_ = 0;
  std::optional<Collector> collector_;
  std::optional<RuntimeFactWriter> facts_;
  const std::shared_ptr<CommitRequests> requests_ = std::make_shared<CommitRequests>();

  std::mutex mutex_;  // guards the members up to stopping_
  std::condition_variable wake_;
  std::vector<uint32_t> free_segments_;
  std::optional<std::string> new_name_;  // of the process, not yet in the store
  bool stopping_ = false;

  // Per segment: the level that was populated, up to this slot.
  struct Ready {
    uint32_t level = 0;
    uint64_t slot = 0;
  };
  std::vector<Ready> ready_;
  std::thread thread_;
  absl::Status error_;  // the thread's last error
  absl::Status gone_;   // why nothing more is recorded: the store was moved, or the ring truncated
  Left left_ = Left::kStore;
  bool told_ = false, told_ringless_ = false;
  bool is_complete_ = false;  // everything is in the store, whose log may not be closed yet
  uint64_t forked_ = 0;       // events of forked children that a complete store counts
  int64_t committed_ = 0;     // events
  const uint64_t ringless_before_ = ringless_events.load();
  int64_t drain_cpu_ns_ = 0, last_commit_ns_ = 0, last_look_ns_ = 0;
};

}  // namespace xlaprof::record
