// The rings that threads write their events to, and the layout of the file that holds them. A
// process may be killed at any instruction; the file then still has everything that was published.
// record.h includes this file; users include record.h.
//
// The file (docs/formats/ring.md) has a header page, the table of strings and the table of sites.
// One segment per thread follows: a page of ThreadHeader and the slots. A thread's ring begins small.
// When it is full, the thread goes on in a ring of twice the size, which lies behind it. Numbers are
// little-endian; nothing is an address.
#pragma once

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/clock_ns.h"

namespace xlaprof {

uint32_t RecordedString(std::string_view text);

namespace record {

// A slice lies on a track of its own, and not on that of the thread that ended it.
enum SlotKind : uint8_t { kScope = 1, kStep, kInstant, kCounter, kSlice };
enum SlotBits : uint8_t { kArgCount = 0x0f, kFlowOut = 0x10, kFlowIn = 0x20 };
inline constexpr int kMaxArgs = 8;

// One event. A scope's slot is written when the scope ends. Its arguments follow, two per slot.
struct Slot {
  uint64_t begin, end;  // ticks of the clock
  uint64_t value;  // flow, step number, bits of the counter's double, or the slice's track, which
                   // is a string (0: it has the slice's name)
  uint64_t what;   // one word, so that one store writes it

  static constexpr uint64_t What(uint32_t site, uint16_t depth, SlotKind kind) {
    return site | uint64_t(depth) << 32 | uint64_t(kind) << 48;
  }
  static constexpr uint64_t Bits(int bits) { return uint64_t(bits) << 56; }
  uint32_t site() const { return uint32_t(what); }
  uint16_t depth() const { return uint16_t(what >> 32); }  // number of enclosing scopes
  static constexpr uint8_t KindOf(uint64_t what) { return uint8_t(what >> 48); }
  uint8_t kind() const { return KindOf(what); }
  uint8_t bits() const { return uint8_t(what >> 56); }
  int args() const { return bits() & kArgCount; }
  int arg_slots() const { return (args() + 1) / 2; }
  bool plain() const { return what >> 48 == kScope; }  // a scope with only its times
};
static_assert(sizeof(Slot) == 32);

struct Value {
  uint64_t bits;
  uint32_t type;  // ArgType of the store
};
struct ArgSlot {
  uint64_t bits[2];
  uint32_t key[2];
  uint8_t type[2];  // ArgType of the store, kFlowInType or kFlowOutType
  uint8_t unused[6];
};
static_assert(sizeof(ArgSlot) == sizeof(Slot));
// These types are not arguments, but flows for which `value` has no room.
inline constexpr uint32_t kFlowInType = 4, kFlowOutType = 5;

template <class T>
Value ArgOf(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return {std::bit_cast<uint64_t>(double(value)), 2};
  } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
    return {uint64_t(value), 1};
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return {uint64_t(int64_t(value)), 0};
  } else {
    return {RecordedString(value), 3};
  }
}

// The rings of a segment by level. Each level has twice the slots of the one before it, and lies
// behind it.
inline constexpr uint64_t kSmallestRing = 128;  // slots at level 0, which are 4 KiB
inline constexpr uint32_t kMaxLevels = 22;
constexpr uint64_t SlotsAt(uint32_t level) { return kSmallestRing << level; }
constexpr uint64_t SlotsBelow(uint32_t level) { return SlotsAt(level) - kSmallestRing; }

// The first page of a segment. It has the thread's own cache line, the drain's line, and the open
// scopes.
struct ThreadHeader {
  static constexpr int kMaxOpen = 64;
  alignas(64) std::atomic<uint64_t> tail;  // slots published since the beginning
  std::atomic<uint64_t> dropped;           // events dropped
  std::atomic<uint64_t> dropped_args;
  std::atomic<uint64_t> dropped_by_disk;    // of `dropped`: because the disk could not be written
  alignas(64) std::atomic<uint64_t> head;   // slots committed, which may be overwritten
  alignas(64) std::atomic<uint32_t> depth;  // the depth of the next scope
  std::atomic<uint32_t> name;               // a string; 0: none
  std::atomic<uint32_t> ended;              // 1: the thread has ended; 2: the segment is free
  std::atomic<uint32_t> level;              // the ring that the thread writes to
  std::atomic<int64_t> tid;
  // The slot at which this thread began, and the events that earlier threads dropped, because
  // segments are reused. `first` is written first.
  std::atomic<uint64_t> first;
  std::atomic<uint64_t> dropped_before;
  std::atomic<uint32_t> device;  // string: the device of these events; 0: a host thread
  // The open scopes by depth. Entries from `depth` on have ended.
  struct Opened {
    static constexpr uint32_t kIsStep = 1u << 31;  // in `site`: a step, and `step` is its number
    std::atomic<uint64_t> begin;                   // 0: it has ended before an inner scope
    std::atomic<uint64_t> step;
    std::atomic<uint32_t> site;
  } open[kMaxOpen];
  std::atomic<uint32_t> open_deeper;  // number of open scopes for which `open` has no room
  uint32_t first_level;               // the ring with which the segment began
  uint32_t number;                    // of the segment
  // The slot from which each level above the first is used. It is written before `level`.
  std::atomic<uint64_t> used_from[kMaxLevels];
};
static_assert(sizeof(ThreadHeader) <= 4096);

inline std::atomic<bool> uses_tsc{false};
inline uint64_t Now() {
#ifdef __x86_64__
  if (uses_tsc.load(std::memory_order_relaxed)) [[likely]]
    return __rdtsc();
#endif
  return uint64_t(ClockNs(CLOCK_MONOTONIC));
}

// One thread's view of its segment.
class alignas(64) Ring {
 public:
  // `slots` are the slots of all levels.
  Ring(uint32_t recording, ThreadHeader* header, Slot* slots)
      : recording_(recording), header_(header), all_slots_(slots) {
    UseLevel(header->level.load(std::memory_order_relaxed));
    tail_ = head_ = header->tail.load(std::memory_order_relaxed);
    dropped_ = header->dropped.load(std::memory_order_relaxed);
  }

  uint32_t recording() const { return recording_; }
  // Returns the depth at which this thread's next scope begins.
  uint16_t depth() {
    const uint32_t depth = header_->depth.load(std::memory_order_relaxed);
    if (depth == 0) return 0;
    if (depth > ThreadHeader::kMaxOpen ||
        header_->open[depth - 1].begin.load(std::memory_order_relaxed) == 0) [[unlikely]]
      return LowerDepth();
    return uint16_t(depth);
  }
  ThreadHeader& header() { return *header_; }

  // Marks a scope as open.
  void Open(uint16_t depth, uint32_t site, uint64_t begin) {
    if (depth < ThreadHeader::kMaxOpen) [[likely]] {
      ThreadHeader::Opened& open = header_->open[depth];
      open.site.store(site, std::memory_order_relaxed);
      open.begin.store(begin, std::memory_order_relaxed);
    } else {
      header_->open_deeper.fetch_add(1, std::memory_order_relaxed);
    }
    header_->depth.store(depth < kMaxDepth ? uint32_t(depth) + 1 : depth,
                         std::memory_order_release);
  }
  // Marks the scope that was opened just now as a step.
  void OpenStep(uint16_t depth, uint64_t number) {
    if (depth >= ThreadHeader::kMaxOpen) return;
    ThreadHeader::Opened& open = header_->open[depth];
    open.step.store(number, std::memory_order_relaxed);
    open.site.store(open.site.load(std::memory_order_relaxed) | ThreadHeader::Opened::kIsStep,
                    std::memory_order_relaxed);
  }
  // Closes a scope that ends on its own thread. Call it after the scope was published: in between,
  // the scope is both published and open, which readers detect, and it is never missing.
  void Close(uint16_t depth) {
    if (depth < ThreadHeader::kMaxOpen &&
        header_->depth.load(std::memory_order_relaxed) == uint32_t(depth) + 1) [[likely]] {
      header_->depth.store(depth, std::memory_order_release);
    } else {
      CloseOutOfTurn(depth);
    }
  }
  // Returns whether scopes that began here may still end. They hold a pointer to this object.
  bool MayBeNamed();

  void Publish(uint64_t begin, uint64_t end, uint64_t value, uint64_t what) {
    if (tail_ - head_ > mask_ && !HasRoom(1)) [[unlikely]]
      return;
    Put(begin, end, value, what);
    header_->tail.store(++tail_, std::memory_order_release);
  }
  // Publishes an event with the argument slots that follow it.
  void Publish(uint64_t begin, uint64_t end, uint64_t value, uint64_t what, const ArgSlot* args,
               int arg_slots) {
    if (tail_ + uint64_t(arg_slots) - head_ > mask_ && !HasRoom(1 + uint64_t(arg_slots)))
        [[unlikely]]
      return;
    Put(begin, end, value, what);
    for (int i = 0; i < arg_slots; ++i) {
      std::memcpy(static_cast<void*>(&slots_[(tail_ + 1 + uint64_t(i)) & mask_]), &args[i],
                  sizeof(ArgSlot));
    }
    tail_ += 1 + uint64_t(arg_slots);
    header_->tail.store(tail_, std::memory_order_release);
  }
  // Publishes a scope that began here but ends on another thread, or after its thread ended. It
  // becomes an event of the calling thread.
  void PublishElsewhere(uint64_t begin, uint64_t end, uint64_t value, uint64_t what,
                        const ArgSlot* args, int arg_slots);
  // Makes later writes go nowhere, in a forked child.
  void Abandon();
  void DropArg() { header_->dropped_args.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr uint16_t kMaxDepth = 0xffff;
  // Lowers the depth past scopes that ended before an inner one, or on another thread.
  uint16_t LowerDepth();
  void CloseOutOfTurn(uint16_t depth);
  void CloseDeep();
  void Put(uint64_t begin, uint64_t end, uint64_t value, uint64_t what) {
    Slot& slot = slots_[tail_ & mask_];
    slot.begin = begin, slot.end = end, slot.value = value, slot.what = what;
  }
  // Returns whether there is room for `slots`, after reading how far the drain is, and growing if
  // that does not help. If there is none, counts one event as dropped.
  bool HasRoom(uint64_t slots);
  // Goes on in a ring of twice the size. Returns whether there is one.
  bool Grow();
  void UseLevel(uint32_t level) {
    slots_ = all_slots_ + SlotsBelow(level);
    mask_ = SlotsAt(level) - 1;
  }
  bool capacity_is_none() const { return mask_ == 0; }

  const uint32_t recording_;
  ThreadHeader* header_;
  Slot* all_slots_;
  Slot* slots_ = nullptr;  // of the current level
  uint64_t mask_ = 0;
  uint64_t tail_, head_, dropped_;  // head_: slots before it, or in an earlier ring, need no room
  int64_t retry_ns_ = 0;            // CLOCK_MONOTONIC at which to try again to grow
  bool lacks_disk_ = false;         // the disk had no room for a larger ring
};

// Counts this process's events on threads that had no ring.
inline constinit std::atomic<uint64_t> ringless_events{0};
// Is true while the recording's thread cannot write to the store.
inline constinit std::atomic<bool> disk_fails{false};
// The number of the running recording; 0 if none runs.
inline constinit std::atomic<uint32_t> recording{0};
// The number in a child that was forked from a recorded process, until it records for itself.
inline constexpr uint32_t kForkedChild = UINT32_MAX;
inline constinit thread_local Ring* ring_of_thread = nullptr;
// Creates the calling thread's ring. Returns null if that failed.
Ring* Attach(uint32_t recording);
inline Ring* RingOfThread(uint32_t on) {
  Ring* ring = ring_of_thread;
  return ring != nullptr && ring->recording() == on ? ring : Attach(on);
}

}  // namespace record
}  // namespace xlaprof
