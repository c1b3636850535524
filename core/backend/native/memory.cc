#include "core/backend/native/memory.h"

#include <absl/status/status.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace xlaprof::lazy {
namespace {

constexpr int64_t kSmallest = 64;
// This much free memory is kept even if little was ever in use.
constexpr int64_t kAlwaysKept = int64_t{64} << 20;

struct SizeClass {
  size_t index;
  int64_t bytes;
};

// Rounds up to a size class, which wastes at most an eighth.
SizeClass ClassOf(int64_t bytes) {
  const auto size = uint64_t(std::max(bytes, kSmallest)) - 1;
  const int log = std::bit_width(size) - 1;  // at least 5
  const uint64_t step = uint64_t{1} << (log - 3);
  const uint64_t eighth = (size - (uint64_t{1} << log)) / step;
  const uint64_t rounded = (uint64_t{1} << log) + (eighth + 1) * step;
  return {size_t(log) * 8 + eighth, int64_t((rounded + 63) / 64 * 64)};
}

int64_t MemoryOfTheMachine() {
  static const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return bytes;
}

}  // namespace

DeviceMemory::~DeviceMemory() { FreeKept(); }

void DeviceMemory::FreeKept() {
  for (Kept& kept : kept_)
    while (!kept.free.empty()) FreeOne(kept);
}

void DeviceMemory::FreeOne(Kept& kept) {
  std::free(kept.free.back());
  kept.free.pop_back();
  kept_bytes_ -= kept.bytes_each;
}

DeviceMemory::Kept* DeviceMemory::Stalest(const Kept& but) {
  Kept* stalest = nullptr;
  for (Kept& kept : kept_) {
    if (&kept == &but || kept.free.empty()) continue;
    if (stalest == nullptr || kept.asked < stalest->asked) stalest = &kept;
  }
  return stalest;
}

char* DeviceMemory::Allocate(int64_t bytes) {
  // The system would grant more than there is, and then end the process when it uses it.
  if (bytes < 0 || bytes > MemoryOfTheMachine() - in_use()) return nullptr;
  const SizeClass size = ClassOf(bytes);
  std::lock_guard lock(mutex_);
  Kept& kept = kept_[size.index];
  kept.asked = ++calls_;
  char* memory;
  if (!kept.free.empty()) {
    memory = kept.free.back();
    kept.free.pop_back();
    kept_bytes_ -= size.bytes;
  } else {
    memory = static_cast<char*>(std::aligned_alloc(64, size_t(size.bytes)));
    if (memory == nullptr) {
      FreeKept();
      memory = static_cast<char*>(std::aligned_alloc(64, size_t(size.bytes)));
    }
    if (memory == nullptr) return nullptr;
  }
  most_in_use_ = std::max(most_in_use(), in_use_.fetch_add(bytes) + bytes);
  return memory;
}

void DeviceMemory::Free(char* memory, int64_t bytes) {
  if (memory == nullptr || is_forked) return;
  const SizeClass size = ClassOf(bytes);
  std::lock_guard lock(mutex_);
  in_use_.fetch_sub(bytes);
  Kept& kept = kept_[size.index];
  kept.bytes_each = size.bytes;
  kept.free.push_back(memory);
  kept_bytes_ += size.bytes;
  // Frees memory of sizes that are no longer requested.
  while (kept_bytes_ > std::max(kAlwaysKept, most_in_use())) {
    Kept* stalest = Stalest(kept);
    FreeOne(stalest != nullptr ? *stalest : kept);
  }
}

absl::StatusOr<Ref<NativeBuffer>> NewBuffer(const Ref<DeviceMemory>& memory, const Shape& shape,
                                            std::string_view what) {
  char* data = memory->Allocate(shape.bytes());
  if (data == nullptr)
    return absl::ResourceExhaustedError(
        fmt::format("{}: no memory left for {}, {} bytes", what, shape.ToText(), shape.bytes()));
  return MakeRef<NativeBuffer>(shape, data, memory);
}

}  // namespace xlaprof::lazy
