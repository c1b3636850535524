// A recording: rings for the threads that come, and a thread that empties them into the store.
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "core/base/clock_ns.h"
#include "profiler/record/collector.h"
#include "profiler/record/current.h"
#include "profiler/record/losses.h"
#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "profiler/record/runtime_facts.h"
#include "profiler/record/runtime_observer.h"
#include "profiler/record/sites.h"

namespace xlaprof {

using record::Clock;
using record::Collector;
using record::Ring;
using record::RingFile;
using record::Segment;

namespace {

// As many events are written at once, where they come fast.
constexpr size_t kWriteEvents = EventWriter::kChunkEvents;
constexpr auto kPollTime = std::chrono::milliseconds(1);
// After an error the store is opened again this often.
constexpr auto kRetryTime = std::chrono::milliseconds(200);
// So far ahead of a thread its ring is kept free of page faults.
constexpr uint64_t kReadySlots = (size_t(4) << 20) / sizeof(record::Slot);
// The file may be deleted under way; SQLite goes on writing to what nobody will find.
constexpr int64_t kLookNs = 500'000'000;

// What tells a file from another that takes its name; 0: there is none.
uint64_t FileNumber(const std::filesystem::path& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? uint64_t(status.st_ino) : 0;
}

// Commits that others ask for, told when they are done; outlives the recording that they ask.
struct Asked {
  std::mutex mutex;
  std::condition_variable done;
  uint64_t asked = 0, committed = 0;
  absl::Status error;  // why the last one failed
  RecordStats stats;
};

std::string ProgramName() {
  return program_invocation_short_name != nullptr ? program_invocation_short_name : "program";
}

}  // namespace

struct Recording::Impl {
  Impl(std::filesystem::path at, RecordOptions given, Store opened,
       std::unique_ptr<RingFile> ring_file, int64_t origin)
      : path(std::move(at)),
        options(std::move(given)),
        store(std::move(opened)),
        file(std::move(ring_file)),
        origin_ns(origin),
        file_number(FileNumber(path)),
        clock(file->header().first) {}

  const std::filesystem::path path;
  const RecordOptions options;
  std::optional<Store> store;  // always inside a transaction: what is taken belongs together
  const std::unique_ptr<RingFile> file;
  const int64_t origin_ns;
  const uint64_t file_number;
  Clock clock;
  int64_t recording_id = 0, process_id = 0;
  std::optional<Collector> collector;
  std::optional<record::RuntimeFactWriter> facts;
  uint32_t number = 0;

  const std::shared_ptr<Asked> others = std::make_shared<Asked>();
  std::mutex mutex;  // of the next three
  std::condition_variable wake;
  std::vector<uint32_t> free_segments;
  std::optional<std::string> new_name;  // of the process, not yet in the store
  bool stopping = false;
  std::vector<uint64_t> ready;  // of each segment: slots up to here were populated
  std::thread thread;
  absl::Status error;  // the last one of the thread
  bool told = false;
  int64_t drain_cpu_ns = 0, last_commit_ns = 0, last_look_ns = 0;

  absl::Status Prepare();
  void Collect() { collector.emplace(*store, *file, clock, recording_id, process_id); }
  void Run();
  absl::Status Round(bool all);
  absl::Status Rename();
  absl::Status Commit();
  absl::Status Look() const;
  void KeepReady(uint32_t segment);
  void AddAnchor();
  void Recover();
  RecordStats Stats() const {
    return {.events = collector->events(),
            .dropped = collector->dropped(),
            .threads = collector->threads(),
            .drain_cpu_ns = drain_cpu_ns};
  }
  absl::Status Finish(RecordStats* stats);
  void TellOthers(uint64_t asked);
  size_t SegmentCount() { return file->header().segment_count.load(std::memory_order_acquire); }
  Ring* NewRing(std::vector<std::unique_ptr<Ring>>& rings);
};

namespace {

// The recording that runs; of the whole process.
struct Current {
  std::mutex mutex;
  Recording::Impl* impl = nullptr;
  uint32_t last_number = 0;
  std::string process_name;  // of NameProcess
};
Current& TheCurrent() {
  static Current& current = *new Current;
  return current;
}

// What a thread leaves behind when it ends.
struct Rings {
  std::vector<std::unique_ptr<Ring>> rings;  // of all recordings: scopes may still be open in them
  std::string name, device;
  uint32_t failed = 0;  // recording in which it has none
  ~Rings();
};
thread_local bool rings_are_gone = false;
thread_local Rings rings_of_thread;

Rings::~Rings() {
  rings_are_gone = true;
  record::ring_of_thread = nullptr;
  for (auto& ring : rings) ring->header().ended.store(1, std::memory_order_release);
}

// In a forked child nobody empties rings: it writes to a page of its own, and records nothing.
void AfterForkInChild() {
  record::recording.store(0, std::memory_order_relaxed);
  record::ring_of_thread = nullptr;
  new (&TheCurrent().mutex) std::mutex;
  TheCurrent().impl = nullptr;
  record::Sites::Get().Attach(nullptr);
  if (rings_are_gone) return;
  for (auto& ring : rings_of_thread.rings) ring->Abandon();
}
void BeforeFork() { record::Sites::Get().mutex().lock(); }
void AfterFork() { record::Sites::Get().mutex().unlock(); }

}  // namespace

namespace record {

Ring* Attach(uint32_t number) {
  if (rings_are_gone) return nullptr;
  Rings& mine = rings_of_thread;
  if (mine.failed == number) return nullptr;
  Current& current = TheCurrent();
  std::lock_guard lock(current.mutex);
  if (current.impl == nullptr || current.impl->number != number) return nullptr;
  ring_of_thread = current.impl->NewRing(mine.rings);
  if (ring_of_thread == nullptr) {
    mine.failed = number;
    return nullptr;
  }
  ThreadHeader& header = ring_of_thread->header();
  if (!mine.name.empty())
    header.name.store(Sites::Get().String(mine.name), std::memory_order_release);
  if (!mine.device.empty())
    header.device.store(Sites::Get().String(mine.device), std::memory_order_release);
  return ring_of_thread;
}

bool Ring::HasRoom(uint64_t slots) {
  head_ = header_->head.load(std::memory_order_acquire);
  if (tail_ + slots - head_ <= mask_ + 1) return true;
  header_->dropped.store(++dropped_, std::memory_order_relaxed);
  return false;
}

void Ring::Abandon() {
  static ThreadHeader& nowhere = *new ThreadHeader{};
  static Slot& slot = *new Slot{};
  header_ = &nowhere;
  slots_ = &slot;
  mask_ = 0, tail_ = 1, head_ = 0;
}

}  // namespace record

Ring* Recording::Impl::NewRing(std::vector<std::unique_ptr<Ring>>& rings) {
  std::lock_guard lock(mutex);
  Segment segment;
  if (!free_segments.empty()) {
    segment = file->segments()[free_segments.back()];
    free_segments.pop_back();
    record::ThreadHeader& header = *segment.header;
    header.first.store(header.tail.load(), std::memory_order_release);
    header.dropped_before.store(header.dropped.load(), std::memory_order_release);
    header.depth.store(0);
    header.name.store(0);
    header.device.store(0);
    header.ended.store(0);
  } else {
    auto added = file->AddSegment();
    if (!added.ok()) {
      std::fprintf(stderr, "xlaprof: a thread is not recorded: %s\n",
                   std::string(Message(added.status())).c_str());
      return nullptr;
    }
    segment = *added;
  }
  segment.header->tid = gettid();
  if (gettid() == getpid()) segment.header->name.store(record::Sites::Get().String("main"));
  rings.push_back(std::make_unique<Ring>(number, segment.header, segment.slots));
  return rings.back().get();
}

absl::Status Recording::Impl::Prepare() {
  XP_TRY(store->Begin());
  XP_TRY(store->SetMeta("base_epoch_ns", fmt::to_string(file->header().base_epoch_ns)));
  const std::string label = options.label.empty() ? ProgramName() : options.label;
  XP_TRY(store->SetMeta("run_label", label));
  XP_TRY(int64_t run_id, store->Add(RunRow{.label = label,
                                           .started_epoch_ns = file->header().base_epoch_ns,
                                           .selected = true,
                                           .why = "recorded"}));
  XP_TRY(
      int64_t source_id,
      store->Add(SourceRow{
          .path = path.string(), .format = "recording", .clock_offset_ns = 0, .imported = true}));
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  XP_TRY(process_id, store->Add(ProcessRow{.run_id = run_id,
                                           .source_id = source_id,
                                           .host = std::string(host),
                                           .pid = getpid(),
                                           .name = ProgramName()}));
  XP_TRY(recording_id,
         store->Add(RecordingRow{.process_id = process_id,
                                 .ring = file->path().filename().string(),
                                 .ring_key = file->Key(),
                                 .clock = record::uses_tsc.load() ? "tsc" : "monotonic"}));
  XP_TRY(store->Commit());
  return store->Begin();
}

// Only where nothing waits: times of one write come from one line.
void Recording::Impl::AddAnchor() {
  record::FileHeader& header = file->header();
  const record::Anchor anchor = Clock::ReadAnchor(origin_ns);
  clock.Add(anchor);
  const uint32_t count = header.anchor_count.load(std::memory_order_relaxed);
  header.newest[(count + 1) % 2] = anchor;
  header.anchor_count.store(count + 1, std::memory_order_release);
}

absl::Status Recording::Impl::Rename() {
  std::optional<std::string> name;
  {
    std::lock_guard lock(mutex);
    name = std::exchange(new_name, std::nullopt);
  }
  if (!name) return absl::OkStatus();
  return store->Run("UPDATE process SET name = ?2 WHERE id = ?1", process_id, *name);
}

absl::Status Recording::Impl::Commit() {
  XP_TRY(Rename());
  XP_TRY(facts->Write(*store));
  if (!collector->has_news() && !facts->has_news()) {
    AddAnchor();
    last_commit_ns = ClockNs(CLOCK_MONOTONIC);
    return absl::OkStatus();
  }
  XP_TRY(collector->Write());
  XP_TRY(store->Run("UPDATE recording SET drain_cpu_ns = ?2 WHERE id = ?1", recording_id,
                    ClockNs(CLOCK_THREAD_CPUTIME_ID)));
  XP_TRY(store->Commit());
  facts->Committed();
  XP_TRY(store->Begin());
  for (uint32_t i = 0; i < SegmentCount(); ++i)
    file->segments()[i].header->head.store(collector->taken(i), std::memory_order_release);
  AddAnchor();
  last_commit_ns = ClockNs(CLOCK_MONOTONIC);
  return absl::OkStatus();
}

absl::Status Recording::Impl::Look() const {
  if (FileNumber(path) == file_number) return absl::OkStatus();
  return absl::NotFoundError(fmt::format(
      "{}: was deleted or replaced while it was recorded. What was in it is lost, and nothing more "
      "is kept. Record again, to a place that nobody clears",
      path.string()));
}

// Page faults are this thread's, not those of the threads that are recorded.
void Recording::Impl::KeepReady(uint32_t segment) {
  const Segment& of = file->segments()[segment];
  if (ready.size() <= segment) ready.resize(segment + 1, RingFile::kFirstSlots);
  const uint64_t tail = of.header->tail.load(std::memory_order_relaxed);
  // The more, the more the thread has written: most write little.
  const uint64_t ahead = std::min<uint64_t>(
      of.header->capacity, std::clamp(tail - of.header->first.load(std::memory_order_relaxed),
                                      RingFile::kFirstSlots, kReadySlots));
  const uint64_t from = std::max(ready[segment], tail);
  if (tail + ahead < from + ahead / 2) return;
  file->Populate(of, from, tail + ahead - from);
  ready[segment] = tail + ahead;
}

// Takes what is there, and commits where that is much, or has waited for long.
absl::Status Recording::Impl::Round(bool all) {
  if (const int64_t now_ns = ClockNs(CLOCK_MONOTONIC); all || now_ns - last_look_ns >= kLookNs) {
    last_look_ns = now_ns;
    XP_TRY(Look());
  }
  const std::span<const Segment> segments = file->segments();
  bool crowded = false, more = true;
  while (more) {
    more = false;
    for (uint32_t i = 0; i < segments.size(); ++i) {
      KeepReady(i);
      XP_TRY(uint64_t slots, collector->Take(i, kWriteEvents));
      const record::ThreadHeader& header = *segments[i].header;
      const uint64_t waiting =
          header.tail.load(std::memory_order_relaxed) - header.head.load(std::memory_order_relaxed);
      crowded |= waiting > header.capacity / 4;
      more |= slots >= kWriteEvents;
      if (collector->pending() >= kWriteEvents) {
        XP_TRY(Commit());
        crowded = false;
      }
    }
  }
  const int64_t waited_ns = ClockNs(CLOCK_MONOTONIC) - last_commit_ns;
  if (all || crowded || waited_ns >= options.commit_interval_ns) XP_TRY(Commit());
  // Of threads that are gone, the memory is for the next.
  std::lock_guard lock(mutex);
  for (uint32_t i = 0; i < segments.size(); ++i) {
    record::ThreadHeader& header = *segments[i].header;
    if (header.ended.load(std::memory_order_acquire) == 1 && collector->finished(i) &&
        header.head.load(std::memory_order_relaxed) == collector->taken(i)) {
      header.ended.store(2);
      free_segments.push_back(i);
    }
  }
  return absl::OkStatus();
}

// What was not committed is still in the rings.
void Recording::Impl::Recover() {
  if (error = Look(); !error.ok()) return;
  collector.reset();
  store.reset();
  auto opened = Store::OpenForWriting(path);
  if (!opened.ok()) {
    error = opened.status();
    return;
  }
  store.emplace(*std::move(opened));
  facts->RolledBack();
  Collect();
  error = collector->Restore();
  if (error.ok()) error = store->Begin();
}

// `asked`: how many had asked before what was just committed was taken.
void Recording::Impl::TellOthers(uint64_t asked) {
  std::lock_guard lock(others->mutex);
  if (asked == others->committed) return;
  others->error = error;
  if (error.ok()) {
    others->committed = asked;
    others->stats = Stats();
  }
  others->done.notify_all();
}

void Recording::Impl::Run() {
  pthread_setname_np(pthread_self(), "xlaprof record");
  last_commit_ns = ClockNs(CLOCK_MONOTONIC);
  while (true) {
    bool last = false;
    {
      std::unique_lock lock(mutex);
      wake.wait_for(lock, error.ok() ? kPollTime : kRetryTime, [&] { return stopping; });
      last = stopping;
    }
    uint64_t asked = 0;
    bool wanted = false;
    {
      std::lock_guard lock(others->mutex);
      asked = others->asked;
      wanted = asked != others->committed;
    }
    if (!error.ok()) {
      error = absl::OkStatus();
      Recover();
    }
    if (error.ok()) error = Round(last || wanted);
    drain_cpu_ns = ClockNs(CLOCK_THREAD_CPUTIME_ID);
    if (wanted) TellOthers(asked);
    if (!error.ok() && !told) {
      told = true;
      std::fprintf(stderr, "xlaprof: %s%s\n", std::string(Message(error)).c_str(),
                   absl::IsNotFound(error)
                       ? ""
                       : ". The program goes on; what waits for the disk is kept in memory while "
                         "there is room, then dropped and counted");
    }
    if (last) return;
  }
}

absl::Status Recording::Impl::Finish(RecordStats* stats) {
  *stats = Stats();
  XP_TRY(Rename());
  XP_TRY(facts->Write(*store));
  XP_TRY(collector->Write());  // what was dropped since
  XP_TRY(record::TellLosses(*store, recording_id));
  XP_TRY(store->Run("UPDATE recording SET ended = 1, drain_cpu_ns = ?2 WHERE id = ?1", recording_id,
                    drain_cpu_ns));
  XP_TRY(store->Commit());
  collector.reset();
  XP_TRY(record::CloseLog(*store));
  file->Unlink();
  std::error_code none;
  stats->committed_bytes = int64_t(std::filesystem::file_size(path, none));
  return absl::OkStatus();
}

Recording::Recording(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&& other) noexcept {
  if (impl_ != nullptr) (void)Stop();
  impl_ = std::move(other.impl_);
  return *this;
}
Recording::~Recording() {
  if (impl_ != nullptr) (void)Stop();
}

absl::StatusOr<Recording> StartRecording(const std::filesystem::path& path, RecordOptions options) {
  static const bool prepared = [] {
    record::uses_tsc = Clock::HasInvariantTsc();
    pthread_atfork(BeforeFork, AfterFork, [] {
      AfterFork();
      AfterForkInChild();
    });
    return true;
  }();
  (void)prepared;
  Current& current = TheCurrent();
  std::lock_guard lock(current.mutex);
  if (current.impl != nullptr) {
    return absl::FailedPreconditionError(
        fmt::format("{}: this process is being recorded already, to {}. Stop that first",
                    path.string(), current.impl->path.string()));
  }
  const size_t capacity = options.ring_bytes / sizeof(record::Slot);
  if (!std::has_single_bit(capacity) || capacity < record::kPageBytes / sizeof(record::Slot) ||
      capacity > 1u << 28)
    return Invalid("ring_bytes: {} is no power of two from 4096 on", options.ring_bytes);
  XP_TRY(Store store, Store::Create(path));
  auto file = RingFile::Create(RingPath(path), uint32_t(capacity));
  if (!file.ok()) {
    std::error_code error;
    std::filesystem::remove(path, error);
    return file.status();
  }
  record::FileHeader& header = (*file)->header();
  header.base_epoch_ns = ClockNs(CLOCK_REALTIME);
  const int64_t origin_ns = ClockNs(CLOCK_MONOTONIC);
  header.uses_tsc = record::uses_tsc.load();
  header.first = Clock::ReadAnchor(origin_ns);
  header.newest[0] = header.newest[1] = header.first;

  auto impl = std::make_unique<Recording::Impl>(path, std::move(options), std::move(store),
                                                *std::move(file), origin_ns);
  if (absl::Status prepared_store = impl->Prepare(); !prepared_store.ok()) {
    impl->file->Unlink();
    impl->store.reset();
    std::error_code error;
    std::filesystem::remove(path, error);
    return prepared_store;
  }
  impl->Collect();
  record::RuntimeFacts::Get().Take();  // of before
  impl->facts.emplace(impl->process_id, origin_ns);
  impl->number = ++current.last_number;
  // The rate of the counter must be known before the first event is written.
  timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  nanosleep(&pause, nullptr);
  impl->clock.Add(header.newest[1] = Clock::ReadAnchor(origin_ns));
  header.anchor_count.store(1, std::memory_order_release);
  if (auto network = impl->store->Meta("network_file_system"); network.ok() && *network) {
    std::fprintf(stderr, "xlaprof: %s: %s\n", path.c_str(), (*network)->c_str());
  }
  record::Sites::Get().Attach(impl->file.get());
  impl->thread = std::thread([raw = impl.get()] { raw->Run(); });
  if (!current.process_name.empty()) impl->new_name = current.process_name;
  current.impl = impl.get();
  record::recording.store(impl->number, std::memory_order_release);
  record::ObserveRuntime(true);
  return Recording(std::move(impl));
}

absl::StatusOr<CurrentRecording> CommitRecording(int64_t timeout_ns) {
  CurrentRecording now;
  std::shared_ptr<Asked> asked;
  {
    Current& current = TheCurrent();
    std::lock_guard lock(current.mutex);
    if (current.impl == nullptr) return absl::NotFoundError("nothing is recorded now");
    now.path = current.impl->path;
    now.now_ns = ClockNs(CLOCK_MONOTONIC) - current.impl->origin_ns;
    asked = current.impl->others;
  }
  std::unique_lock lock(asked->mutex);
  const uint64_t mine = ++asked->asked;
  if (!asked->done.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                            [&] { return asked->committed >= mine; })) {
    return IoError("{}: nothing could be committed for {} s{}{}", now.path.string(),
                   timeout_ns / 1'000'000'000, asked->error.ok() ? "" : ": ",
                   std::string(Message(asked->error)));
  }
  now.stats = asked->stats;
  return now;
}

absl::StatusOr<RecordStats> Recording::Stop() {
  if (impl_ == nullptr) return absl::FailedPreconditionError("the recording has ended already");
  std::unique_ptr<Impl> impl = std::move(impl_);
  {
    std::lock_guard lock(TheCurrent().mutex);
    if (TheCurrent().impl != impl.get()) {  // a forked child: the parent's goes on
      (void)impl.release();
      return absl::FailedPreconditionError("this process is a fork of the one that is recorded");
    }
    record::recording.store(0, std::memory_order_relaxed);
    TheCurrent().impl = nullptr;
  }
  record::ObserveRuntime(false);
  record::Sites::Get().Attach(nullptr);
  {
    std::lock_guard lock(impl->mutex);
    impl->stopping = true;
    impl->wake.notify_all();
  }
  impl->thread.join();
  impl->TellOthers(UINT64_MAX);  // who asks from now on need not wait
  RecordStats stats;
  if (impl->error.ok()) impl->error = impl->Finish(&stats);
  if (absl::IsNotFound(impl->error)) impl->file->Unlink();
  impl->collector.reset();
  const std::string ring = impl->file->path().string();
  impl->file->Release();
  if (impl->error.ok()) return stats;
  if (absl::IsNotFound(impl->error)) return impl->error;
  return absl::Status(
      impl->error.code(),
      fmt::format("{}. The last events are in {}: `xlaprof recover {}` takes them in when the disk "
                  "is well again",
                  std::string_view(Message(impl->error)), ring, impl->path.string()));
}

void NameThread(std::string_view name) {
  if (rings_are_gone) return;
  rings_of_thread.name = name;
  if (Ring* ring = record::ring_of_thread)
    ring->header().name.store(record::Sites::Get().String(name), std::memory_order_release);
}

void record::NameDeviceThread(std::string_view device) {
  if (rings_are_gone) return;
  rings_of_thread.device = device;
  if (Ring* ring = record::ring_of_thread)
    ring->header().device.store(record::Sites::Get().String(device), std::memory_order_release);
}

void NameProcess(std::string_view name) {
  Current& current = TheCurrent();
  std::lock_guard lock(current.mutex);
  current.process_name = name;
  if (current.impl == nullptr) return;
  std::lock_guard names(current.impl->mutex);
  current.impl->new_name = name;
}

void Counter(std::string_view name, double value) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) return;
  if (Ring* ring = record::RingOfThread(on)) {
    const uint64_t now = record::Now();
    ring->Publish(now, 0, std::bit_cast<uint64_t>(value),
                  record::Slot::What(SiteOfName(Site::kCounter, name), 0, record::kCounter));
  }
}

void Instant(std::string_view name) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) return;
  if (Ring* ring = record::RingOfThread(on)) {
    const uint64_t now = record::Now();
    ring->Publish(
        now, now, 0,
        record::Slot::What(SiteOfName(Site::kInstant, name), ring->depth(), record::kInstant));
  }
}

}  // namespace xlaprof
