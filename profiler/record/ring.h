// What threads write their events to, and the file that it lies in. The layout is that of a process
// that may be killed at any instruction: whatever was published is found again by who opens the
// file. Included by record.h; users call that.
//
// File (docs/formats/ring.md): a header page, the table of strings, the table of sites, then one
// segment a thread: a page of ThreadHeader and the slots. Numbers are little-endian; nothing is an
// address.
#pragma once

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <type_traits>

namespace xlaprof {

uint32_t RecordedString(std::string_view text);

namespace record {

enum SlotKind : uint8_t { kScope = 1, kStep, kInstant, kCounter };
enum SlotBits : uint8_t { kArgCount = 0x0f, kFlowOut = 0x10, kFlowIn = 0x20 };
inline constexpr int kMaxArgs = 8;

// One event. A scope's slot comes when it ends; its arguments follow, two a slot.
struct Slot {
  uint64_t begin, end;  // ticks of the clock
  uint64_t value;       // flow, number of the step, bits of the counter's double
  uint32_t site;
  uint16_t depth;  // scopes of the thread around it
  uint8_t kind;
  uint8_t bits;
};
static_assert(sizeof(Slot) == 32);

struct Value {
  uint64_t bits;
  uint32_t type;  // ArgType of the store
};
struct ArgSlot {
  uint64_t bits[2];
  uint32_t key[2];
  uint8_t type[2];
  uint8_t unused[6];
};
static_assert(sizeof(ArgSlot) == sizeof(Slot));

template <class T>
Value ArgOf(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return {std::bit_cast<uint64_t>(double(value)), 2};
  } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
    return {uint64_t(value), 1};
  } else if constexpr (std::is_integral_v<T>) {
    return {uint64_t(int64_t(value)), 0};
  } else {
    return {RecordedString(value), 3};
  }
}

// The first page of a segment. The thread's own line, the drain's line, and what is open.
struct ThreadHeader {
  static constexpr int kMaxOpen = 64;
  alignas(64) std::atomic<uint64_t> tail;  // slots published, ever
  std::atomic<uint64_t> dropped;           // events
  std::atomic<uint64_t> dropped_args;
  alignas(64) std::atomic<uint64_t> head;   // slots committed: may be overwritten
  alignas(64) std::atomic<uint32_t> depth;  // of the scopes that are open
  std::atomic<uint32_t> name;               // string; 0: none
  std::atomic<uint32_t> ended;              // the thread is gone
  uint32_t capacity;                        // slots
  int64_t tid;
  uint64_t first;  // slot at which this thread began: segments are used again
  uint64_t dropped_before;
  struct Opened {
    std::atomic<uint64_t> begin;
    std::atomic<uint32_t> site;
  } open[kMaxOpen];
};
static_assert(sizeof(ThreadHeader) <= 4096);

inline std::atomic<bool> uses_tsc{false};
inline uint64_t Now() {
#ifdef __x86_64__
  if (uses_tsc.load(std::memory_order_relaxed)) [[likely]]
    return __rdtsc();
#endif
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

// One thread's view of its segment.
class Ring {
 public:
  Ring(uint32_t recording, ThreadHeader* header, Slot* slots)
      : recording_(recording), header_(header), slots_(slots), mask_(header->capacity - 1) {
    tail_ = head_ = header->tail.load(std::memory_order_relaxed);
    dropped_ = header->dropped.load(std::memory_order_relaxed);
  }

  uint32_t recording() const { return recording_; }
  uint16_t depth() const { return uint16_t(depth_); }
  ThreadHeader& header() { return *header_; }

  uint16_t Open(uint32_t site) {
    const uint32_t depth = depth_;
    if (depth < ThreadHeader::kMaxOpen)
      header_->open[depth].site.store(site, std::memory_order_relaxed);
    return uint16_t(depth);
  }
  // From here on the scope is known to be open.
  void OpenedAt(uint16_t depth, uint64_t begin) {
    if (depth < ThreadHeader::kMaxOpen)
      header_->open[depth].begin.store(begin, std::memory_order_relaxed);
    depth_ = uint32_t(depth) + 1;
    header_->depth.store(depth_, std::memory_order_release);
  }
  void Close(uint16_t depth) {
    depth_ = depth;
    header_->depth.store(depth, std::memory_order_release);
  }

  void Publish(const Slot& slot) {
    if (tail_ - head_ > mask_ && !HasRoom(1)) [[unlikely]]
      return;
    slots_[tail_ & mask_] = slot;
    header_->tail.store(++tail_, std::memory_order_release);
  }
  void Publish(const Slot& slot, const uint32_t* keys, const Value* values, int args);
  // In a forked child: what it still writes goes nowhere.
  void Abandon();
  void DropArg() { header_->dropped_args.fetch_add(1, std::memory_order_relaxed); }

 private:
  // Looks how far the drain is; counts an event as dropped where there is no room.
  bool HasRoom(uint64_t slots);

  const uint32_t recording_;
  uint32_t depth_ = 0;
  ThreadHeader* header_;
  Slot* slots_;
  uint64_t mask_;
  uint64_t tail_, head_, dropped_;
};

// The number of the recording that runs; 0: none.
inline constinit std::atomic<uint32_t> recording{0};
inline constinit thread_local Ring* ring_of_thread = nullptr;
// Makes the calling thread's; null where that failed.
Ring* Attach(uint32_t recording);
inline Ring* RingOfThread(uint32_t on) {
  Ring* ring = ring_of_thread;
  return ring != nullptr && ring->recording() == on ? ring : Attach(on);
}

}  // namespace record
}  // namespace xlaprof
