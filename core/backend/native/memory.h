// A device's memory on the CPU. It is counted, and freed blocks are kept for the next tensor of
// their size, because fresh memory of the system would have to be cleared page by page.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

// Any thread may use it.
class DeviceMemory final : public RefCounted {
 public:
  ~DeviceMemory() override;

  // Returns memory aligned to 64 bytes, or null if there is no more.
  char* Allocate(int64_t bytes);
  void Free(char* memory, int64_t bytes);
  int64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  int64_t most_in_use() const { return most_in_use_.load(std::memory_order_relaxed); }

 private:
  // Free blocks of one size.
  struct Kept {
    std::vector<char*> free;
    int64_t bytes_each = 0;
    int64_t asked = 0;  // the call of Allocate that last requested this size
  };
  void FreeKept();
  void FreeOne(Kept& kept);
  // Returns the size with free blocks that was requested longest ago, except `but`, or null.
  Kept* Stalest(const Kept& but);

  std::atomic<int64_t> in_use_{0}, most_in_use_{0};
  std::mutex mutex_;
  int64_t kept_bytes_ = 0, calls_ = 0;
  // Blocks by size: eight sizes per power of two.
  std::array<Kept, 64 * 8> kept_;
};

class NativeBuffer final : public Buffer {
 public:
  // Takes ownership of memory from Allocate(shape.bytes()).
  NativeBuffer(Shape shape, char* data, Ref<DeviceMemory> memory)
      : Buffer(std::move(shape)), data_(data), memory_(std::move(memory)) {}
  // Shares another buffer's memory, with other sizes.
  NativeBuffer(Shape shape, Ref<NativeBuffer> owner)
      : Buffer(std::move(shape)), data_(owner->data_), owner_(std::move(owner)) {}
  ~NativeBuffer() override {
    if (memory_) memory_->Free(data_, shape().bytes());
  }

  char* data() const { return data_; }
  // Returns whether it shares memory with no other buffer, given that only one reference to it
  // exists.
  bool owns_alone() const { return !owner_ || (owner_.unique() && owner_->owns_alone()); }

 private:
  char* const data_;
  const Ref<DeviceMemory> memory_;
  const Ref<NativeBuffer> owner_;
};

absl::StatusOr<Ref<NativeBuffer>> NewBuffer(const Ref<DeviceMemory>& memory, const Shape& shape,
                                            std::string_view what);

}  // namespace xlaprof::lazy
