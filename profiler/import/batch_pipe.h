// Two threads on one file: one scans, the other writes rows. Batches go round between them, so that
// nothing is allocated once each has been used.
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace xlaprof {

template <class Item>
class BatchPipe {
 public:
  struct Batch {
    std::vector<Item> items;  // the first `size` are filled; the others keep what they allocated
    size_t size = 0;
  };

  // --- the producer's ---
  // An empty batch; null when the consumer wants no more. Waits while all are full.
  Batch* Empty() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || given_ - taken_ < kBatches; });
    if (closed_) return nullptr;
    Batch& batch = batches_[given_ % kBatches];
    batch.size = 0;
    return &batch;
  }
  // The batch of the last Empty() is filled.
  void Give() {
    std::lock_guard lock(mutex_);
    ++given_;
    changed_.notify_all();
  }
  // Nothing will follow.
  void Finish() {
    std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  // --- the consumer's ---
  // The next filled batch, good until the next call; null when there is none and none will come.
  Batch* Next() {
    std::unique_lock lock(mutex_);
    if (holding_) {
      ++taken_;
      holding_ = false;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return given_ > taken_ || finished_; });
    if (given_ == taken_) return nullptr;
    holding_ = true;
    return &batches_[taken_ % kBatches];
  }
  // For the next producer, when the last one has ended.
  void Reopen() {
    given_ = taken_ = 0;
    holding_ = finished_ = closed_ = false;
  }
  // The consumer stops early.
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr size_t kBatches = 4;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Batch, kBatches> batches_;
  size_t given_ = 0, taken_ = 0;  // so far
  bool holding_ = false, finished_ = false, closed_ = false;
};

}  // namespace xlaprof
