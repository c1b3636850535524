// Implements a recording: a ring for each new thread, and a drain that empties the rings into the
// store.
#include <pthread.h>

#include <bit>
#include <cstdio>
#include <map>
#include <mutex>

#include "base/clock_ns.h"
#include "profiler/record/categories.h"
#include "profiler/record/current.h"
#include "profiler/record/drain.h"
#include "profiler/record/forked.h"
#include "profiler/record/own_streams.h"
#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "profiler/record/runtime_observer.h"
#include "profiler/record/sites.h"
#include "profiler/record/size_limit.h"
#include "profiler/record/truncation.h"
#include "profiler/store/sqlite.h"
#include "profiler/store/sqlite_after_fork.h"

namespace xlaprof {

using record::Clock;
using record::Ring;
using record::RingFile;

struct Recording::Impl : record::Drain {
  using Drain::Drain;
};

namespace {

// The recording that runs in this process.
struct Current {
  std::mutex mutex;
  Recording::Impl* impl = nullptr;
  uint32_t last_number = 0;
  std::string process_name;  // the name that NameProcess gave
};
Current& TheCurrent() {
  static Current& current = *new Current;
  return current;
}

// The rings of a thread, or of a device whose work several threads do in turns.
struct Rings {
  std::vector<std::unique_ptr<Ring>> rings;  // of all recordings; scopes may still be open
  std::string name, device;
  uint32_t failed = 0;   // the recording in which it has no ring
  int64_t retry_ns = 0;  // CLOCK_MONOTONIC at which to try again
  ~Rings();
};
constinit thread_local bool rings_are_gone = false;
constinit thread_local Rings* rings_of_thread = nullptr;  // null until the thread needs them
constinit thread_local Rings* rings_of_device = nullptr;  // of the device that it works for

Rings& RingsOfThread() {
  thread_local Rings rings;
  return *(rings_of_thread = &rings);
}

// The rings of each device. They are never removed.
struct Devices {
  std::mutex mutex;
  std::map<std::string, Rings*, std::less<>> rings;
};
Devices& TheDevices() {
  static Devices& devices = *new Devices;
  return devices;
}

Rings& RingsOf(std::string_view device) {
  thread_local Rings* last = nullptr;
  if (last != nullptr && last->device == device) return *last;
  Devices& devices = TheDevices();
  std::lock_guard lock(devices.mutex);
  Rings*& rings = devices.rings.try_emplace(std::string(device)).first->second;
  if (rings == nullptr) {
    rings = new Rings;
    rings->device = device;
  }
  return *(last = rings);
}

void WriteTo(const Rings& rings) {
  record::ring_of_thread = rings.rings.empty() ? nullptr : rings.rings.back().get();
}

// Rings of ended threads in which scopes are still open. Never destroyed.
struct Orphans {
  std::mutex mutex;
  std::vector<std::unique_ptr<Ring>> rings;
};
Orphans& TheOrphans() {
  static Orphans& orphans = *new Orphans;
  return orphans;
}

Rings::~Rings() {
  rings_are_gone = true;
  record::ring_of_thread = nullptr;
  for (auto& ring : rings) {
    std::atomic<uint32_t>& ended = ring->header().ended;
    if (ring->MayBeNamed()) {
      // exit() came first, or an object outlives the thread and will end its scope on another
      // thread.
      Orphans& orphans = TheOrphans();
      std::lock_guard lock(orphans.mutex);
      orphans.rings.push_back(std::move(ring));
    }
    ended.store(1, std::memory_order_release);
  }
}

// Detaches a forked child, where nobody drains its parent's rings (forked.h). It must not allocate: at the
// fork, another thread of the parent may have held a lock of the heap.
void AfterForkInChild() {
  // The parent may itself be a forked child that is not recorded.
  if (TheCurrent().impl != nullptr)
    record::recording.store(record::kForkedChild, std::memory_order_relaxed);
  record::InForkedChild();
  sqlite3_forget_files();
  record::ring_of_thread = nullptr;
  new (&TheCurrent().mutex) std::mutex;
  new (&TheDevices().mutex) std::mutex;
  new (&TheOrphans().mutex) std::mutex;
  // The lock on the file is the parent's. A mapping in an orphan would hold it for ever.
  if (TheCurrent().impl != nullptr) TheCurrent().impl->file().Release();
  TheCurrent().impl = nullptr;
  record::Sites::Get().Attach(nullptr);
  record::ObserveRuntime(false);
  if (rings_are_gone || rings_of_thread == nullptr) return;
  for (auto& ring : rings_of_thread->rings) ring->Abandon();
}

// At a fork, the recording's thread may hold SQLite's locks, which the child could never release.
// So they are taken before the fork, in the order in which SQLite itself nests them.
constexpr int kSqliteLocks[] = {SQLITE_MUTEX_STATIC_VFS1,   SQLITE_MUTEX_STATIC_PRNG,
                                SQLITE_MUTEX_STATIC_MASTER, SQLITE_MUTEX_STATIC_OPEN,
                                SQLITE_MUTEX_STATIC_LRU,    SQLITE_MUTEX_STATIC_PMEM,
                                SQLITE_MUTEX_STATIC_MEM};
void BeforeFork() {
  record::Categories::Get().mutex().lock();
  record::Sites::Get().mutex().lock();
  record::RuntimeFacts::Get().mutex().lock();
  for (int lock : kSqliteLocks) sqlite3_mutex_enter(sqlite3_mutex_alloc(lock));
}
void AfterFork() {
  for (int lock : kSqliteLocks) sqlite3_mutex_leave(sqlite3_mutex_alloc(lock));
  record::RuntimeFacts::Get().mutex().unlock();
  record::Sites::Get().mutex().unlock();
  record::Categories::Get().mutex().unlock();
}

}  // namespace

namespace record {

// Counts the event of a thread that has no ring.
static Ring* Lose() {
  if (recording.load(std::memory_order_relaxed) == kForkedChild) {
    LoseInForkedChild();
    return nullptr;
  }
  ringless_events.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

// Guards functions that lock the current recording. A signal handler may interrupt them, and must not
// wait for the lock that its own thread holds.
class InAttach {
 public:
  InAttach() : is_first_(!std::exchange(is_inside_, true)) {}
  ~InAttach() {
    if (is_first_) is_inside_ = false;
  }
  InAttach(const InAttach&) = delete;
  bool is_first() const { return is_first_; }

 private:
  static inline constinit thread_local bool is_inside_ = false;
  const bool is_first_;
};

Ring* Attach(uint32_t number) {
  const InAttach inside;
  if (rings_are_gone || !inside.is_first()) return Lose();
  if (number == kForkedChild) {
    if (!RecordForkedChild()) return Lose();
    number = recording.load();
  }
  Rings& mine = rings_of_device != nullptr ? *rings_of_device : RingsOfThread();
  constexpr int64_t kRetryNs = 100'000'000;
  if (mine.failed == number && ClockNs(CLOCK_MONOTONIC) < mine.retry_ns) return Lose();
  Current& current = TheCurrent();
  std::lock_guard lock(current.mutex);
  if (current.impl == nullptr || current.impl->number() != number) return nullptr;
  std::unique_ptr<Ring> ring = current.impl->NewRing();
  if (ring == nullptr) {
    mine.failed = number;
    mine.retry_ns = ClockNs(CLOCK_MONOTONIC) + kRetryNs;
    return Lose();
  }
  ring_of_thread = mine.rings.emplace_back(std::move(ring)).get();
  ThreadHeader& header = ring_of_thread->header();
  if (!mine.name.empty())
    header.name.store(Sites::Get().String(mine.name, record::Sites::kMadeName),
                      std::memory_order_release);
  if (!mine.device.empty())
    header.device.store(Sites::Get().String(mine.device, record::Sites::kMadeName),
                        std::memory_order_release);
  return ring_of_thread;
}

bool Ring::HasRoom(uint64_t slots) {
  if (capacity_is_none()) {
    Lose();
    return false;
  }
  // Slots in earlier rings take no room in this one.
  const uint32_t level = header_->level.load(std::memory_order_relaxed);
  const uint64_t begin =
      level == header_->first_level ? 0 : header_->used_from[level].load(std::memory_order_relaxed);
  head_ = std::max(begin, header_->head.load(std::memory_order_acquire));
  if (tail_ + slots - head_ <= mask_ + 1 || Grow()) return true;
  header_->dropped.store(++dropped_, std::memory_order_relaxed);
  if (lacks_disk_ || disk_fails.load(std::memory_order_relaxed))
    header_->dropped_by_disk.fetch_add(1, std::memory_order_relaxed);
  return false;
}

bool Ring::Grow() {
  constexpr int64_t kRetryNs = 100'000'000;
  const InAttach inside;
  if (!inside.is_first() || ClockNs(CLOCK_MONOTONIC) < retry_ns_) return false;
  const uint32_t level = header_->level.load(std::memory_order_relaxed) + 1;
  {
    Current& current = TheCurrent();
    std::lock_guard lock(current.mutex);
    if (current.impl == nullptr || current.impl->number() != recording_) return false;
    RingFile& file = current.impl->file();
    const bool may_grow = level < file.levels();
    lacks_disk_ = may_grow && !file.ReserveLevel(header_->number, level);
    if (!may_grow || lacks_disk_) {
      retry_ns_ = ClockNs(CLOCK_MONOTONIC) + kRetryNs;
      return false;
    }
  }
  header_->used_from[level].store(tail_, std::memory_order_relaxed);
  header_->level.store(level, std::memory_order_release);
  UseLevel(level);
  head_ = tail_;
  return true;
}

uint16_t Ring::LowerDepth() {
  uint32_t depth = header_->depth.load(std::memory_order_relaxed);
  if (depth > ThreadHeader::kMaxOpen) {
    if (header_->open_deeper.load(std::memory_order_relaxed) != 0) return uint16_t(depth);
    depth = ThreadHeader::kMaxOpen;
  }
  while (depth > 0 && header_->open[depth - 1].begin.load(std::memory_order_relaxed) == 0) --depth;
  header_->depth.store(depth, std::memory_order_release);
  return uint16_t(depth);
}

void Ring::CloseOutOfTurn(uint16_t depth) {
  if (depth < ThreadHeader::kMaxOpen) {
    header_->open[depth].begin.store(0, std::memory_order_release);
    return;
  }
  CloseDeep();
  if (header_->depth.load(std::memory_order_relaxed) == uint32_t(depth) + 1)
    header_->depth.store(depth, std::memory_order_release);
}

void Ring::CloseDeep() {
  std::atomic<uint32_t>& open = header_->open_deeper;
  uint32_t count = open.load(std::memory_order_relaxed);
  while (count > 0 && !open.compare_exchange_weak(count, count - 1, std::memory_order_relaxed)) {
  }
}

bool Ring::MayBeNamed() {
  // A recording that has ended leaves an empty header, which no longer shows the open scopes. Stop
  // changes the number before that.
  return LowerDepth() > 0 || record::recording.load() != recording_;
}

void Ring::PublishElsewhere(uint64_t begin, uint64_t end, uint64_t value, uint64_t what,
                            const ArgSlot* args, int arg_slots) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0 || on != recording_) return;
  if (Ring* ring = RingOfThread(on)) {
    constexpr uint64_t kDepth = uint64_t{0xffff} << 32;
    ring->Publish(begin, end, value, (what & ~kDepth) | uint64_t(ring->depth()) << 32, args,
                  arg_slots);
  }
  const uint16_t depth = uint16_t(what >> 32);
  if (depth < ThreadHeader::kMaxOpen) {
    header_->open[depth].begin.compare_exchange_strong(begin, 0, std::memory_order_release);
  } else {
    CloseDeep();
  }
}

void Ring::Abandon() {
  static ThreadHeader& nowhere = *new ThreadHeader{};
  static Slot& slot = *new Slot{};
  header_ = &nowhere;
  all_slots_ = slots_ = &slot;
  mask_ = 0, tail_ = 1, head_ = 0;
}

}  // namespace record

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

absl::StatusOr<Recording> StartRecording(const std::filesystem::path& given,
                                         RecordOptions options) {
  // Makes the path absolute, because the program may change its working directory later.
  std::error_code none;
  std::filesystem::path path = std::filesystem::absolute(given, none);
  if (none) path = given;
  static const bool prepared = [] {
    record::GuardAgainstTruncation();
    record::uses_tsc = Clock::HasInvariantTsc();
    // The handlers of a fork use these, and must not construct them.
    TheDevices();
    TheOrphans();
    pthread_atfork(BeforeFork, AfterFork, [] {
      AfterFork();
      AfterForkInChild();
    });
    return true;
  }();
  (void)prepared;
  const record::NoSizeSignal no_signal;
  Current& current = TheCurrent();
  std::lock_guard lock(current.mutex);
  if (current.impl != nullptr) {
    return absl::FailedPreconditionError(
        fmt::format("{}: this process is already being recorded, to {}. Stop that recording first",
                    path.string(), current.impl->path().string()));
  }
  const uint64_t slots = options.ring_bytes / sizeof(record::Slot);
  if (!std::has_single_bit(options.ring_bytes) || slots < record::kSmallestRing ||
      slots > record::SlotsAt(record::kMaxLevels - 1))
    return Invalid("ring_bytes: {} is not a power of two of at least 4096", options.ring_bytes);
  const auto levels = uint32_t(std::countr_zero(slots / record::kSmallestRing)) + 1;
  record::ForgetTruncation();
  if (record::recording.load() != record::kForkedChild) record::RememberStreams();
  XP_TRY(Store store, Store::Create(given));
  auto file = RingFile::Create(RingPath(path), levels);
  if (!file.ok()) {
    RemoveFile(path, IdentityOf(path));
    return file.status();
  }
  record::FileHeader& header = (*file)->header();
  header.base_epoch_ns = ClockNs(CLOCK_REALTIME);
  const int64_t origin_ns = ClockNs(CLOCK_MONOTONIC);
  header.uses_tsc = record::uses_tsc.load();
  header.first = Clock::ReadAnchor(origin_ns);
  header.newest[0] = header.newest[1] = header.first;

  auto impl =
      std::make_unique<Recording::Impl>(path, given.string(), std::move(options), std::move(store),
                                        *std::move(file), origin_ns, ++current.last_number);
  XP_TRY(impl->Start());
  record::PrepareForForks(path);
  record::Sites::Get().Attach(&impl->file());
  if (!current.process_name.empty()) impl->RenameProcess(current.process_name);
  current.impl = impl.get();
  record::recording.store(impl->number(), std::memory_order_release);
  record::ObserveRuntime(true);
  return Recording(std::move(impl));
}

absl::StatusOr<CurrentRecording> CommitRecording(int64_t timeout_ns) {
  CurrentRecording now;
  std::shared_ptr<record::CommitRequests> requests;
  {
    Current& current = TheCurrent();
    std::lock_guard lock(current.mutex);
    if (current.impl == nullptr) return absl::NotFoundError("nothing is being recorded");
    now.path = current.impl->path();
    now.now_ns = ClockNs(CLOCK_MONOTONIC) - current.impl->origin_ns();
    requests = current.impl->requests();
  }
  XP_TRY(now.stats, requests->Await(now.path, timeout_ns));
  return now;
}

absl::StatusOr<RecordStats> Recording::Stop() {
  if (impl_ == nullptr) return absl::FailedPreconditionError("the recording has already ended");
  const record::NoSizeSignal no_signal;
  std::unique_ptr<Impl> impl = std::move(impl_);
  {
    std::lock_guard lock(TheCurrent().mutex);
    if (TheCurrent().impl != impl.get()) {  // in a forked child the parent's recording goes on
      static auto& of_parents = *new std::vector<std::unique_ptr<Impl>>;
      of_parents.push_back(std::move(impl));
      return absl::FailedPreconditionError("this process was forked from the recorded one");
    }
    record::recording.store(0, std::memory_order_relaxed);
    TheCurrent().impl = nullptr;
    record::ReleaseCount();
    record::ObserveRuntime(false);
    record::Sites::Get().Attach(nullptr);
  }
  return impl->Stop();
}

void NameThread(std::string_view name) {
  if (rings_are_gone) return;
  RingsOfThread().name = name;
  if (Ring* ring = record::ring_of_thread)
    ring->header().name.store(record::Sites::Get().String(name, record::Sites::kMadeName),
                              std::memory_order_release);
}

void record::EnterDevice(std::string_view device) {
  if (rings_are_gone) return;
  rings_of_device = &RingsOf(device);
  WriteTo(*rings_of_device);
}

void record::LeaveDevice() {
  if (rings_are_gone) return;
  rings_of_device = nullptr;
  WriteTo(RingsOfThread());
}

void NameProcess(std::string_view name) {
  Current& current = TheCurrent();
  std::lock_guard lock(current.mutex);
  current.process_name = name;
  if (current.impl != nullptr) current.impl->RenameProcess(name);
}

void Counter(std::string_view name, double value) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) return;
  if (Ring* ring = record::RingOfThread(on)) {
    const uint64_t now = record::Now();
    ring->Publish(now, 0, std::bit_cast<uint64_t>(value),
                  record::Slot::What(SiteOfName(Category::kNone, name), 0, record::kCounter));
  }
}

void Instant(std::string_view name) {
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on == 0) return;
  if (Ring* ring = record::RingOfThread(on)) {
    const uint64_t now = record::Now();
    ring->Publish(
        now, now, 0,
        record::Slot::What(SiteOfName(Category::kScope, name), ring->depth(), record::kInstant));
  }
}

AsyncTrace& AsyncTrace::operator=(AsyncTrace&& other) noexcept {
  if (this == &other) return *this;
  End();
  begin_ = other.begin_, site_ = other.site_, track_ = other.track_, args_ = other.args_;
  recording_ = std::exchange(other.recording_, 0);
  return *this;
}

void AsyncTrace::Put(uint32_t key, record::Value value) {
  if (args_.Put(key, value)) return;
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (Ring* ring = on == recording_ ? record::RingOfThread(on) : nullptr) ring->DropArg();
}

void AsyncTrace::End() {
  const uint64_t began_in = std::exchange(recording_, 0);
  if (began_in == 0) return;
  const uint64_t end = record::Now();
  const uint32_t on = record::recording.load(std::memory_order_relaxed);
  if (on != began_in) return;
  if (Ring* ring = record::RingOfThread(on)) {
    ring->Publish(begin_, end, track_,
                  record::Slot::What(site_, 0, record::kSlice) | record::Slot::Bits(args_.count()),
                  args_.slots(), args_.slot_count());
  }
}

}  // namespace xlaprof
