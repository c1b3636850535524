// SHA-256 of the files that are imported: computed beside everything else, by a thread that takes
// what the others leave of the machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "profiler/import/input.h"
#include "profiler/store/store.h"

namespace xlaprof {

// For one thread.
class SourceHashes {
 public:
  SourceHashes();
  ~SourceHashes();
  SourceHashes(const SourceHashes&) = delete;

  // Of `file`, which is source `source_id`, as it lies on disk. One is hashed at a time: first
  // finishes that before.
  void Add(int64_t source_id, std::shared_ptr<const InputFile> file);
  // No other threads work from now on but the caller's.
  void Hurry() { hurries_ = true; }
  // Finishes and writes what was computed to source.sha256.
  absl::Status Write(Store& store);

 private:
  class Sha256;
  void Finish();
  void Stop();

  int64_t source_id_ = 0;
  std::shared_ptr<const InputFile> file_;  // null: none is under way
  std::unique_ptr<Sha256> hash_;
  std::thread thread_;
  std::atomic<bool> stopping_{false}, hurries_{false};
  std::vector<std::pair<int64_t, OptText>> done_;
};

}  // namespace xlaprof
