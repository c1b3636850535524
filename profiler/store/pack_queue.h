// Chunks on their way to the store: filled by a writer, packed by a thread of their own where there
// are many, and taken back in the order in which they were filled. Internal to profiler/store.
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "profiler/store/chunk_packer.h"

namespace xlaprof {

// One writer; what it does in which order does not depend on the thread's speed.
class PackQueue {
 public:
  struct Slot {
    ChunkInput input;
    PackedChunk packed;
  };

  PackQueue() = default;
  ~PackQueue();
  PackQueue(const PackQueue&) = delete;

  bool empty() const { return taken_ == submitted_; }
  bool full() const { return submitted_ - taken_ == kSlots; }
  // The slot to fill next, with what it held last time; the queue is not full.
  ChunkInput& Next() { return slots_[submitted_ % kSlots].input; }
  // Packs the slot of Next(): now, or meanwhile.
  void Submit();
  // Waits for the oldest slot; the queue is not empty. Good until Release().
  const Slot& Oldest();
  void Release() { ++taken_; }

 private:
  static constexpr size_t kSlots = 4;
  // Less is packed before a thread would have begun.
  static constexpr size_t kWorthThread = 1 << 14;

  void Run();

  std::array<Slot, kSlots> slots_;
  size_t submitted_ = 0, taken_ = 0;  // the writer's own
  ChunkPacker packer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t wanted_ = 0, packed_ = 0;  // slots submitted, and packed so far; under mutex_
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace xlaprof
