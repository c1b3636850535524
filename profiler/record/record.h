// Records scopes, counters and steps of any C++ program, from many threads, into one store.
//
//   #include "profiler/record/record.h"
//
//   int main() {
//     auto recording = xlaprof::StartRecording("run.xlaprof");  // or in the environment, see below
//     for (int step = 0; step < 100; ++step) {
//       XLAPROF_STEP("train", step);
//       XLAPROF_TRACE("forward");  // until the end of the block
//       XLAPROF_COUNTER("loss", loss);
//     }
//   }
//
// A scope costs two reads of the clock and about a nanosecond. A full ring drops events and counts
// them; it never blocks. If a process is killed, the events that it had completed are in the ring
// file beside the store, and `xlaprof recover run.xlaprof` adds them. Compiled with
// XLAPROF_NO_RECORD, the macros and classes leave no code.
//
// Environment: XLAPROF_RECORD=PATH records the whole program to PATH, in which %p stands for the
// process id. If PATH is a directory, the file in it is PROGRAM.NUMBER.xlaprof, or
// PROGRAM.NUMBER.2.xlaprof and so on if that exists. If PATH does not exist, it becomes a
// directory, with its parents, if it ends in a slash, or if its name has neither an extension nor
// %p: `runs`, but not `run.xlaprof`. XLAPROF_REPORT=1 prints the findings when the program ends. It
// runs XLAPROF_PROGRAM, or if that is not set the `xlaprof` on the system's PATH.
//
// Everything here may be called from any thread, but not from a signal handler. Names are UTF-8.
// Leave scopes the way C++ does: a scope that longjmp leaves stays open in the recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/category.h"
#include "core/base/status.h"
#include "profiler/record/ring.h"

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

// A place that events come from: one object per place, with static storage.
class Site {
 public:
  constexpr Site(Category category, const char* name, const char* file = "", int line = 0,
                 const char* function = "")
      : name_(name), file_(file), function_(function), line_(line), category_(category) {}
  Site(const Site&) = delete;

  uint32_t id() {
    const uint32_t id = id_.load(std::memory_order_acquire);
    return id != 0 ? id : Register();
  }

 private:
  uint32_t Register();
  const char *name_, *file_, *function_;
  int line_;
  Category category_;
  std::atomic<uint32_t> id_{0};
};

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
  explicit Block(Site& site) {
    if (Ring* ring = RingNow(); ring != nullptr) Begin(ring, site.id(), kScope);
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

// A scope from here to the end of the object, however the block is left.
class Trace : record::Scope {
 public:
  explicit Trace(Site& site) {
    if (record::Ring* ring = RingNow(); ring != nullptr) Begin(ring, site.id(), record::kScope);
  }
  explicit Trace(std::string_view name) {
    if (record::Ring* ring = RingNow(); ring != nullptr)
      Begin(ring, SiteOfName(Category::kScope, name), record::kScope);
  }
  ~Trace() {
    if (ring_ == nullptr) return;
    const uint64_t end = record::Now();
    const uint64_t what = what_ | record::Slot::Bits(arg_count_ | flow_kind_);
    const int arg_slots = (arg_count_ + 1) / 2;
    if (ring_ == record::ring_of_thread) [[likely]] {
      ring_->Publish(begin_, end, value_, what, args_, arg_slots);
      ring_->Close(depth());
    } else {
      ring_->PublishElsewhere(begin_, end, value_, what, args_, arg_slots);
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
  void Put(uint32_t key, record::Value value) {
    if (arg_count_ == record::kMaxArgs) return ring_->DropArg();
    const int place = arg_count_++;
    record::ArgSlot& slot = args_[place / 2];
    slot.bits[place % 2] = value.bits;
    slot.key[place % 2] = key;
    slot.type[place % 2] = uint8_t(value.type);
  }

  uint64_t value_ = 0;
  uint8_t arg_count_ = 0, flow_kind_ = 0;
  record::ArgSlot args_[record::kMaxArgs / 2];
};

// A training step: a scope with the user's number, which the report counts as a step.
class StepTrace : public Trace {
 public:
  StepTrace(Site& site, int64_t step) : StepTrace(RingNow(), site, step) {}
  StepTrace(std::string_view name, int64_t step) : StepTrace(RingNow(), name, step) {}

 private:
  StepTrace(record::Ring* ring, Site& site, int64_t step)
      : Trace(ring, ring == nullptr ? 0 : site.id(), step) {}
  StepTrace(record::Ring* ring, std::string_view name, int64_t step)
      : Trace(ring, ring == nullptr ? 0 : SiteOfName(Category::kStep, name), step) {}
};

// Records a value at this moment.
inline void Counter(Site& site, double value) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) [[likely]]
    return;
  if (record::Ring* ring = record::RingOfThread(on))
    ring->Publish(record::Now(), 0, std::bit_cast<uint64_t>(value),
                  record::Slot::What(site.id(), 0, record::kCounter));
}
void Counter(std::string_view name, double value);

// Records a moment.
inline void Instant(Site& site) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) [[likely]]
    return;
  if (record::Ring* ring = record::RingOfThread(on)) {
    const uint64_t now = record::Now();
    ring->Publish(now, now, 0, record::Slot::What(site.id(), ring->depth(), record::kInstant));
  }
}
void Instant(std::string_view name);

#define XLAPROF_SITE_(category, name, number)                        \
  static constinit ::xlaprof::Site XP_CONCAT(xlaprof_site_, number)( \
      ::xlaprof::Category::category, name, __FILE__, __LINE__, __func__)
#define XLAPROF_TRACE_(name, number)   \
  XLAPROF_SITE_(kScope, name, number); \
  ::xlaprof::record::Block XP_CONCAT(xlaprof_trace_, number)(XP_CONCAT(xlaprof_site_, number))
#define XLAPROF_STEP_(name, step, number) \
  XLAPROF_SITE_(kStep, name, number);     \
  ::xlaprof::StepTrace XP_CONCAT(xlaprof_trace_, number)(XP_CONCAT(xlaprof_site_, number), step)
// `name` must be a literal. Sites are numbered by line, so that inline functions are the same in
// every file; therefore a line can have only one.
#define XLAPROF_TRACE(name) XLAPROF_TRACE_(name, __LINE__)
#define XLAPROF_STEP(name, step) XLAPROF_STEP_(name, step, __LINE__)
#define XLAPROF_COUNTER(name, value)          \
  do {                                        \
    XLAPROF_SITE_(kNone, name, );             \
    ::xlaprof::Counter(xlaprof_site_, value); \
  } while (false)
#define XLAPROF_INSTANT(name)          \
  do {                                 \
    XLAPROF_SITE_(kScope, name, );     \
    ::xlaprof::Instant(xlaprof_site_); \
  } while (false)

#else

// These classes have their own namespace, because another file of the same program may be compiled
// with the recorder.
inline namespace unrecorded {

class Trace {
 public:
  explicit Trace(Site&) {}
  explicit Trace(std::string_view) {}
  template <class K, class T>
  Trace& Arg(const K&, const T&) {
    return *this;
  }
  Trace& FlowOut(uint64_t) { return *this; }
  Trace& FlowIn(uint64_t) { return *this; }
};
class StepTrace : public Trace {
 public:
  StepTrace(Site& site, int64_t) : Trace(site) {}
  StepTrace(std::string_view name, int64_t) : Trace(name) {}
};
inline void Counter(Site&, double) {}
inline void Counter(std::string_view, double) {}
inline void Instant(Site&) {}
inline void Instant(std::string_view) {}
inline void NameThread(std::string_view) {}
inline void NameProcess(std::string_view) {}

}  // namespace unrecorded

// Values are not computed, but used in an unevaluated operand so that compilers do not warn.
#define XLAPROF_TRACE(name) static_assert(true)
#define XLAPROF_STEP(name, step) static_cast<void>(sizeof(step))
#define XLAPROF_COUNTER(name, value) static_cast<void>(sizeof(value))
#define XLAPROF_INSTANT(name) static_assert(true)

#endif

}  // namespace xlaprof
