// Recording: scopes, counters and steps of any C++ program, from many threads, into one store.
//
//   #include "profiler/record/record.h"
//
//   int main() {
//     auto recording = xlaprof::StartRecording("run.xlaprof");   // or run with
//     XLAPROF_RECORD=run.xlaprof for (int step = 0; step < 100; ++step) {
//       XLAPROF_STEP("train", step);
//       XLAPROF_TRACE("forward");                                // to the end of the block
//       XLAPROF_COUNTER("loss", loss);
//     }
//   }
//
// A scope costs two reads of the clock and about a nanosecond; a full ring drops and counts, and
// never blocks. What a process completed before it was killed is in the ring file beside the store:
// `xlaprof recover run.xlaprof` takes it in. Compiled with XLAPROF_NO_RECORD, the macros and
// classes leave no code.
//
// Environment: XLAPROF_RECORD=PATH records the whole program to PATH, %p in it being the process's
// number; XLAPROF_REPORT=1 prints the findings when it ends.
//
// Everything here may be called from any thread. Names are UTF-8.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/status.h"
#include "profiler/record/ring.h"

namespace xlaprof {

struct RecordOptions {
  // Of each thread that records; a power of two. 32 bytes an event, 16 more an argument.
  size_t ring_bytes = size_t(16) << 20;
  // At most so long after it, an event is committed.
  int64_t commit_interval_ns = 100'000'000;
  std::string label;  // of the run; empty: the program's name
};

struct RecordStats {
  int64_t events = 0;           // committed
  int64_t dropped = 0;          // completed while their ring was full
  int64_t threads = 0;          // that recorded
  int64_t drain_cpu_ns = 0;     // of the thread that writes
  int64_t committed_bytes = 0;  // of the store's file
};

// A recording in progress; ends with the object, or with Stop.
class Recording {
 public:
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();
  // Ends it: what was completed before is committed, and the store is one file. Once.
  absl::StatusOr<RecordStats> Stop();

  struct Impl;  // defined in recording.cc

 private:
  friend absl::StatusOr<Recording> StartRecording(const std::filesystem::path&, RecordOptions);
  explicit Recording(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Starts to record all threads of this process into a new store at `path`. AlreadyExists if the
// file is there; FailedPrecondition while another recording runs; Unavailable where the folder
// cannot be written.
absl::StatusOr<Recording> StartRecording(const std::filesystem::path& path,
                                         RecordOptions options = {});

// Where events come from: one object a place, of static storage.
class Site {
 public:
  enum Kind : uint8_t { kScope, kStep, kInstant, kCounter };
  constexpr Site(Kind kind, const char* name, const char* file = "", int line = 0,
                 const char* function = "")
      : name_(name), file_(file), function_(function), line_(line), kind_(kind) {}
  Site(const Site&) = delete;

  uint32_t id() {
    const uint32_t id = id_.load(std::memory_order_acquire);
    return id != 0 ? id : Register();
  }

 private:
  uint32_t Register();
  const char *name_, *file_, *function_;
  int line_;
  Kind kind_;
  std::atomic<uint32_t> id_{0};
};

// A name that is only known at run time: looked up at each use.
uint32_t SiteOfName(Site::Kind kind, std::string_view name);
// A string for arguments: likewise.
uint32_t RecordedString(std::string_view text);

#ifndef XLAPROF_NO_RECORD

namespace record {
// What the environment asks for, from before main until after it.
bool StartFromEnvironment();
inline const bool started_from_environment = StartFromEnvironment();
}  // namespace record

// Name of the calling thread's track, from now on or from its first event on.
void NameThread(std::string_view name);

// A scope, from here to the end of the object, whatever way the block is left.
class Trace {
 public:
  explicit Trace(Site& site) {
    const uint32_t on = record::recording.load(std::memory_order_relaxed);
    if (on == 0) [[likely]]
      return;
    if ((ring_ = record::RingOfThread(on)) != nullptr) Begin(site.id());
  }
  explicit Trace(std::string_view name) {
    const uint32_t on = record::recording.load(std::memory_order_relaxed);
    if (on != 0 && (ring_ = record::RingOfThread(on)) != nullptr)
      Begin(SiteOfName(Site::kScope, name));
  }
  Trace(const Trace&) = delete;
  ~Trace() {
    if (ring_ != nullptr) End();
  }

  // An argument of the scope; those beyond eight are counted as dropped.
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
  // An arrow from this scope to those that are given the same number with FlowIn, on any thread.
  Trace& FlowOut(uint64_t flow) {
    flow_ = flow, flow_kind_ = record::kFlowOut;
    return *this;
  }
  Trace& FlowIn(uint64_t flow) {
    flow_ = flow, flow_kind_ = record::kFlowIn;
    return *this;
  }

 protected:
  Trace() = default;
  void Begin(uint32_t site) {
    site_ = site;
    depth_ = ring_->Open(site);
    begin_ = record::Now();
    ring_->OpenedAt(depth_, begin_);
  }
  void Put(uint32_t key, record::Value value) {
    if (args_ == record::kMaxArgs) return ring_->DropArg();
    keys_[args_] = key;
    values_[args_++] = value;
  }
  void End() {
    const uint64_t end = record::Now();
    ring_->Close(depth_);
    record::Slot slot{begin_, end, flow_, site_, depth_, kind_, uint8_t(args_ | flow_kind_)};
    if (args_ == 0) [[likely]]
      ring_->Publish(slot);
    else
      ring_->Publish(slot, keys_, values_, args_);
  }

  record::Ring* ring_ = nullptr;
  uint64_t begin_, flow_ = 0;
  uint32_t site_;
  uint16_t depth_;
  uint8_t kind_ = record::kScope, args_ = 0, flow_kind_ = 0;
  uint32_t keys_[record::kMaxArgs];
  record::Value values_[record::kMaxArgs];
};

// A step of training: a scope that the report counts, with the user's number.
class StepTrace : public Trace {
 public:
  StepTrace(Site& site, int64_t step) {
    const uint32_t on = record::recording.load(std::memory_order_relaxed);
    if (on == 0 || (ring_ = record::RingOfThread(on)) == nullptr) return;
    kind_ = record::kStep;
    flow_ = uint64_t(step);
    Begin(site.id());
  }
  StepTrace(std::string_view name, int64_t step) {
    const uint32_t on = record::recording.load(std::memory_order_relaxed);
    if (on == 0 || (ring_ = record::RingOfThread(on)) == nullptr) return;
    kind_ = record::kStep;
    flow_ = uint64_t(step);
    Begin(SiteOfName(Site::kStep, name));
  }
};

// A value at this moment.
inline void Counter(Site& site, double value) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) [[likely]]
    return;
  if (record::Ring* ring = record::RingOfThread(on))
    ring->Publish(
        {record::Now(), 0, std::bit_cast<uint64_t>(value), site.id(), 0, record::kCounter, 0});
}
void Counter(std::string_view name, double value);

// A moment.
inline void Instant(Site& site) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) [[likely]]
    return;
  if (record::Ring* ring = record::RingOfThread(on)) {
    const uint64_t now = record::Now();
    ring->Publish({now, now, 0, site.id(), ring->depth(), record::kInstant, 0});
  }
}
void Instant(std::string_view name);

#define XLAPROF_SITE_(kind, name)                                      \
  static constinit ::xlaprof::Site XP_CONCAT(xlaprof_site_, __LINE__)( \
      ::xlaprof::Site::kind, name, __FILE__, __LINE__, __func__)
// Name: a literal.
#define XLAPROF_TRACE(name)    \
  XLAPROF_SITE_(kScope, name); \
  ::xlaprof::Trace XP_CONCAT(xlaprof_trace_, __LINE__)(XP_CONCAT(xlaprof_site_, __LINE__))
#define XLAPROF_STEP(name, step) \
  XLAPROF_SITE_(kStep, name);    \
  ::xlaprof::StepTrace XP_CONCAT(xlaprof_trace_, __LINE__)(XP_CONCAT(xlaprof_site_, __LINE__), step)
#define XLAPROF_COUNTER(name, value)                               \
  do {                                                             \
    XLAPROF_SITE_(kCounter, name);                                 \
    ::xlaprof::Counter(XP_CONCAT(xlaprof_site_, __LINE__), value); \
  } while (false)
#define XLAPROF_INSTANT(name)                               \
  do {                                                      \
    XLAPROF_SITE_(kInstant, name);                          \
    ::xlaprof::Instant(XP_CONCAT(xlaprof_site_, __LINE__)); \
  } while (false)

#else

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
#define XLAPROF_TRACE(name) static_assert(true)
#define XLAPROF_STEP(name, step) static_assert(true)
#define XLAPROF_COUNTER(name, value) static_assert(true)
#define XLAPROF_INSTANT(name) static_assert(true)

#endif

}  // namespace xlaprof
