// The recorder inside xlaprof: include/xlaprof/record.h, whose macros these are, with classes in which
// the recording of a scope is inline. That header describes the macros, the classes and the
// environment; what is installed is that header, whose classes call this library.
//
//   auto recording = xlaprof::StartRecording("run.xlaprof");
//   XLAPROF_TRACE("forward", "layer", 7);
//
// A scope costs two reads of the clock and about a nanosecond.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/category.h"
#include "base/status.h"
#include "profiler/record/ring.h"

#ifdef XLAPROF_RECORD_H
#error "Include profiler/record/record.h instead of include/xlaprof/record.h, or before it"
#endif
#define XLAPROF_INLINE_RECORDER
#include "include/xlaprof/record.h"

namespace xlaprof {

struct RecordOptions {
  // Most bytes of a recording thread's ring: a power of two, at least 4096. A ring begins with
  // 64 KiB and doubles when it is full; it then keeps the earlier, smaller ones. An event takes 32
  // bytes, an argument 16 more.
  size_t ring_bytes = size_t(16) << 20;
  // An event is committed at most this long after it was completed.
  int64_t commit_interval_ns = 100'000'000;
  std::string label;  // the run's label; empty: the program's name
};

struct RecordStats {
  int64_t events = 0;           // events committed
  int64_t dropped = 0;          // events whose ring was full, or that had no ring
  int64_t forked = 0;           // events of forked children, which are not recorded here
  int64_t threads = 0;          // threads that recorded
  int64_t drain_cpu_ns = 0;     // CPU time of the writing thread
  int64_t committed_bytes = 0;  // size of the store's file
};

// A recording in progress. It ends with the object, or with Stop.
class Recording {
 public:
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();
  // Ends the recording. Everything completed before is then committed, and the store is a single
  // file. May be called once.
  absl::StatusOr<RecordStats> Stop();

  struct Impl;  // defined in recording.cc

 private:
  friend absl::StatusOr<Recording> StartRecording(const std::filesystem::path&, RecordOptions);
  explicit Recording(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Starts to record all threads of this process into a new store at `path`. Returns AlreadyExists if
// the file exists, FailedPrecondition while another recording runs, and Unavailable if the
// directory is not writable.
absl::StatusOr<Recording> StartRecording(const std::filesystem::path& path,
                                         RecordOptions options = {});

using Site = xlaprof_site;

// Returns the site of a name that is only known at run time. The name is looked up at each call.
uint32_t SiteOfName(Category category, std::string_view name);
// Does the same for a name at a place.
uint32_t SiteOfName(Category category, std::string_view name, const std::source_location& place);
// Returns the number of a string for arguments. It is looked up at each call.
uint32_t RecordedString(std::string_view text);

#ifndef XLAPROF_NO_RECORD

namespace record {
// Does what the environment asks for, from before main until after it.
bool StartFromEnvironment();
inline const bool started_from_environment = StartFromEnvironment();

// Gives a site its number.
uint32_t RegisterSite(Site& site);
inline uint32_t IdOf(Site& site) {
  const uint32_t id = __atomic_load_n(&site.id, __ATOMIC_ACQUIRE);
  return id != 0 ? id : RegisterSite(site);
}
// Finds the switch of a site's category.
const uint32_t* FindSwitch(Site& site);
// Returns whether the category of a site is on. The site must have one.
inline bool IsOn(Site& site) {
  const uint32_t* is_on = __atomic_load_n(&site.is_on, __ATOMIC_ACQUIRE);
  return __atomic_load_n(is_on != nullptr ? is_on : FindSwitch(site), __ATOMIC_RELAXED) != 0;
}

}  // namespace record

// Names the calling thread's track. Before the thread's first event, the name is kept until then.
void NameThread(std::string_view name);
// Names this process in this recording and later ones. Until then it has the program's name.
void NameProcess(std::string_view name);

namespace record {

// The base of every scope. It begins at most once, and ends if it began.
class Scope {
 public:
  Scope(const Scope&) = delete;

 protected:
  Scope() = default;
  // Returns null while nobody records. Otherwise the caller calls Begin.
  static Ring* RingNow() {
    const uint32_t on = recording.load(std::memory_order_relaxed);
    return on == 0 ? nullptr : RingOfThread(on);
  }
  void Begin(Ring* ring, uint32_t site, SlotKind kind) {
    ring_ = ring;
    const uint16_t depth = ring->depth();
    what_ = Slot::What(site, depth, kind);
    begin_ = Now();
    ring->Open(depth, site, begin_);
  }
  uint16_t depth() const { return uint16_t(what_ >> 32); }

  Ring* ring_ = nullptr;
  uint64_t begin_, what_;
};

// The scope of XLAPROF_TRACE. Nothing can be added to it, so it stays in registers.
class Block : Scope {
 public:
  Block(Site& site, const char* /*name*/) {
    if (Ring* ring = RingNow(); ring != nullptr) Begin(ring, IdOf(site), kScope);
  }
  Block(SwitchedSite at, const char* /*name*/) {
    if (Ring* ring = RingNow(); ring != nullptr && IsOn(at.site))
      Begin(ring, IdOf(at.site), kScope);
  }
  ~Block() {
    if (ring_ == nullptr) return;
    const uint64_t end = Now();
    if (ring_ == ring_of_thread) [[likely]] {
      ring_->Publish(begin_, end, 0, what_);
      ring_->Close(depth());
    } else {
      ring_->PublishElsewhere(begin_, end, 0, what_, nullptr, 0);
    }
  }
};

}  // namespace record

namespace record {

// The arguments of an event that is open.
class Args {
 public:
  // Adds an argument. Returns false if there is no room for it.
  bool Put(uint32_t key, Value value) {
    if (count_ == kMaxArgs) return false;
    const int place = count_++;
    ArgSlot& slot = slots_[place / 2];
    slot.bits[place % 2] = value.bits;
    slot.key[place % 2] = key;
    slot.type[place % 2] = uint8_t(value.type);
    return true;
  }
  int count() const { return count_; }
  const ArgSlot* slots() const { return slots_; }
  int slot_count() const { return (count_ + 1) / 2; }

 private:
  uint8_t count_ = 0;
  ArgSlot slots_[kMaxArgs / 2];
};

}  // namespace record

// A scope from here to the end of the object, however the block is left.
class Trace : record::Scope {
 public:
  explicit Trace(Site& site) {
    if (record::Ring* ring = RingNow(); ring != nullptr)
      Begin(ring, record::IdOf(site), record::kScope);
  }
  explicit Trace(std::string_view name) {
    if (record::Ring* ring = RingNow(); ring != nullptr)
      Begin(ring, SiteOfName(Category::kScope, name), record::kScope);
  }
  explicit Trace(SwitchedSite at) {
    if (record::Ring* ring = RingNow(); ring != nullptr && record::IsOn(at.site))
      Begin(ring, record::IdOf(at.site), record::kScope);
  }
  // The scope of XLAPROF_TRACE with arguments. At is a Site or a SwitchedSite.
  template <class At, class... Pairs>
  Trace(At&& at, const char* /*name*/, const Pairs&... pairs) : Trace(at) {
    static_assert(sizeof...(pairs) % 2 == 0, "a name is followed by keys and values in turn");
    static_assert(sizeof...(pairs) <= 2 * record::kMaxArgs, "a scope keeps eight arguments");
    if (ring_ != nullptr) AddArgs(*this, static_cast<Site&>(at), 0, pairs...);
  }
  ~Trace() {
    if (ring_ == nullptr) return;
    const uint64_t end = record::Now();
    const uint64_t what = what_ | record::Slot::Bits(args_.count() | flow_kind_);
    if (ring_ == record::ring_of_thread) [[likely]] {
      ring_->Publish(begin_, end, value_, what, args_.slots(), args_.slot_count());
      ring_->Close(depth());
    } else {
      ring_->PublishElsewhere(begin_, end, value_, what, args_.slots(), args_.slot_count());
    }
  }

  // Adds an argument to the scope. Arguments beyond eight are dropped and counted.
  template <class T>
  Trace& Arg(uint32_t key, const T& value) {
    if (ring_ != nullptr) Put(key, record::ArgOf(value));
    return *this;
  }
  template <class T>
  Trace& Arg(std::string_view key, const T& value) {
    if (ring_ != nullptr) Put(RecordedString(key), record::ArgOf(value));
    return *this;
  }
  // Draws an arrow from this scope to the scopes that call FlowIn with the same number, on any
  // thread. A scope has room for one. A step's flow, and the second flow of a scope, count as
  // arguments.
  Trace& FlowOut(uint64_t flow) { return Flow(flow, record::kFlowOut, record::kFlowOutType); }
  Trace& FlowIn(uint64_t flow) { return Flow(flow, record::kFlowIn, record::kFlowInType); }
  // Adds an argument to a scope that is recorded.
  void Put(uint32_t key, record::Value value) {
    if (!args_.Put(key, value)) ring_->DropArg();
  }

 protected:
  // Begins a step, whose value is its number.
  Trace(record::Ring* ring, uint32_t site, int64_t step) : value_(uint64_t(step)) {
    if (ring == nullptr) return;
    Begin(ring, site, record::kStep);
    ring->OpenStep(depth(), value_);
  }
  using Scope::RingNow;

 private:
  Trace& Flow(uint64_t flow, uint8_t kind, uint32_t type) {
    if (ring_ == nullptr) return *this;
    const bool is_step = record::Slot::KindOf(what_) == record::kStep;
    if (is_step || (flow_kind_ != 0 && flow_kind_ != kind)) {
      Put(0, {flow, type});
    } else {
      value_ = flow, flow_kind_ = kind;
    }
    return *this;
  }

  uint64_t value_ = 0;
  uint8_t flow_kind_ = 0;
  record::Args args_;
};

template <class... Pairs>
Trace ScopeFor(const char*, const Pairs&...);
record::Block ScopeFor(const char*);

// A training step: a scope with the user's number, which the report counts as a step.
class StepTrace : public Trace {
 public:
  StepTrace(Site& site, int64_t step) : StepTrace(RingNow(), site, step) {}
  StepTrace(std::string_view name, int64_t step) : StepTrace(RingNow(), name, step) {}

 private:
  StepTrace(record::Ring* ring, Site& site, int64_t step)
      : Trace(ring, ring == nullptr ? 0 : record::IdOf(site), step) {}
  StepTrace(record::Ring* ring, std::string_view name, int64_t step)
      : Trace(ring, ring == nullptr ? 0 : SiteOfName(Category::kStep, name), step) {}
};

// A track of the user's own, such as that of a queue. Any thread may put slices on it.
class Track {
 public:
  explicit Track(std::string_view name) : number_(RecordedString(name)) {}
  explicit Track(uint32_t number) : number_(number) {}
  uint32_t number() const { return number_; }

 private:
  uint32_t number_;
};

// An asynchronous slice from here to End, to the end of the object or to an assignment, on any
// thread. Such slices overlap. They lie on a track of their own, or on `track`. Such a slice is
// recorded when it ends.
class AsyncTrace {
 public:
  AsyncTrace() = default;
  explicit AsyncTrace(Site& site, Track track = Track(0u)) {
    if (record::Ring* ring = RingNow()) Begin(ring, record::IdOf(site), track);
  }
  explicit AsyncTrace(std::string_view name, Track track = Track(0u)) {
    if (record::Ring* ring = RingNow()) Begin(ring, SiteOfName(Category::kScope, name), track);
  }
  // The slice of XLAPROF_TRACE_ON.
  template <class... Pairs>
  AsyncTrace(Site& site, Track track, const char* /*name*/, const Pairs&... pairs)
      : AsyncTrace(site, track) {
    static_assert(sizeof...(pairs) % 2 == 0, "a name is followed by keys and values in turn");
    static_assert(sizeof...(pairs) <= 2 * record::kMaxArgs, "a slice keeps eight arguments");
    if (recording_ != 0) AddArgs(*this, site, 0, pairs...);
  }
  AsyncTrace(AsyncTrace&& other) noexcept { *this = std::move(other); }
  AsyncTrace& operator=(AsyncTrace&& other) noexcept;
  ~AsyncTrace() { End(); }

  template <class T>
  AsyncTrace& Arg(uint32_t key, const T& value) {
    if (recording_ != 0) Put(key, record::ArgOf(value));
    return *this;
  }
  template <class T>
  AsyncTrace& Arg(std::string_view key, const T& value) {
    if (recording_ != 0) Put(RecordedString(key), record::ArgOf(value));
    return *this;
  }
  // Adds an argument to a slice that is recorded.
  void Put(uint32_t key, record::Value value);
  // Ends the slice. Later calls do nothing.
  void End();

 private:
  static record::Ring* RingNow() {
    const uint32_t on = record::recording.load(std::memory_order_relaxed);
    return on == 0 ? nullptr : record::RingOfThread(on);
  }
  void Begin(record::Ring* ring, uint32_t site, Track track) {
    recording_ = ring->recording();
    site_ = site, track_ = track.number();
    begin_ = record::Now();
  }

  uint64_t recording_ = 0;  // the recording in which it began; 0: none
  uint64_t begin_ = 0;
  uint32_t site_ = 0, track_ = 0;
  record::Args args_;
};

// Records a value at this moment.
inline void Counter(Site& site, double value) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) [[likely]]
    return;
  if (record::Ring* ring = record::RingOfThread(on))
    ring->Publish(record::Now(), 0, std::bit_cast<uint64_t>(value),
                  record::Slot::What(record::IdOf(site), 0, record::kCounter));
}
void Counter(std::string_view name, double value);

// Records a moment.
inline void Instant(Site& site) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) [[likely]]
    return;
  if (record::Ring* ring = record::RingOfThread(on)) {
    const uint64_t now = record::Now();
    ring->Publish(now, now, 0,
                  record::Slot::What(record::IdOf(site), ring->depth(), record::kInstant));
  }
}
void Instant(std::string_view name);

#endif

}  // namespace xlaprof
