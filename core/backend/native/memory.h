// Memory of the CPU as a device has it: counted, and kept for the next tensor of its size, since
// the system's would have to be cleared page by page again.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

// For any thread.
class DeviceMemory final : public RefCounted {
 public:
  ~DeviceMemory() override;

  // Aligned to 64 bytes; null if there is no more.
  char* Allocate(int64_t bytes);
  void Free(char* memory, int64_t bytes);
  int64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  int64_t most_in_use() const { return most_in_use_.load(std::memory_order_relaxed); }

 private:
  // Memory of one size, given back and kept.
  struct Kept {
    std::vector<char*> free;
    int64_t bytes_each = 0;
    int64_t asked = 0;  // when it was asked for last, in calls of Allocate
  };
  void FreeKept();
  void FreeOne(Kept& kept);
  // The size that was asked for longest ago, of those that have any; null: none but `but` has.
  Kept* Stalest(const Kept& but);

  std::atomic<int64_t> in_use_{0}, most_in_use_{0};
  std::mutex mutex_;
  int64_t kept_bytes_ = 0, calls_ = 0;
  // By size: eight sizes for each power of two.
  std::array<Kept, 64 * 8> kept_;
};

class NativeBuffer final : public Buffer {
 public:
  // Takes memory that is of Allocate(shape.bytes()).
  NativeBuffer(Shape shape, char* data, Ref<DeviceMemory> memory)
      : Buffer(std::move(shape)), data_(data), memory_(std::move(memory)) {}
  // Another's memory with other sizes.
  NativeBuffer(Shape shape, Ref<NativeBuffer> owner)
      : Buffer(std::move(shape)), data_(owner->data_), owner_(std::move(owner)) {}
  ~NativeBuffer() override {
    if (memory_) memory_->Free(data_, shape().bytes());
  }

  char* data() const { return data_; }
  // Whether it has no memory in common with another, given that there is one reference to it.
  bool owns_alone() const { return !owner_ || (owner_.unique() && owner_->owns_alone()); }

 private:
  char* const data_;
  const Ref<DeviceMemory> memory_;
  const Ref<NativeBuffer> owner_;
};

absl::StatusOr<Ref<NativeBuffer>> NewBuffer(const Ref<DeviceMemory>& memory, const Shape& shape,
                                            std::string_view what);

}  // namespace xlaprof::lazy
