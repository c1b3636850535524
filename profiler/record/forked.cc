#include "profiler/record/forked.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "profiler/record/recover.h"
#include "profiler/record/ring_file.h"
#include "profiler/record/start_at.h"
#include "profiler/store/store.h"

namespace xlaprof::record {
namespace {

// The memory that parents and children share. It stays mapped, because children of a recording that
// has ended may go on.
struct Shared {
  std::atomic<uint64_t> lost, told;  // events of children, and how many of these were reported
  std::atomic<bool> has_ended;       // the recording reports no more
};
Shared* shared = nullptr;

// The recording to which `shared` belongs.
struct Recorded {
  std::filesystem::path store;
  std::string ring_key;
};
Recorded& TheRecorded() {
  static Recorded& recorded = *new Recorded;
  return recorded;
}

enum class Parent : uint8_t {
  kRuns,         // and holds the lock of its ring
  kLeftItsRing,  // because it was killed, or could not write to its store
  kHasEnded,     // and has deleted its ring
};

// Finds out about the process that was recorded. If it left its ring, adds the children's events to
// those that the ring counts.
Parent AskParent() {
  const int fd = open(RingPath(TheRecorded().store).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Parent::kHasEnded;
  Parent parent = Parent::kRuns;
  struct stat info{};
  if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
    parent = Parent::kHasEnded;  // unless the ring is its own
    void* page = fstat(fd, &info) == 0 && info.st_size >= off_t(kPageBytes)
                     ? mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                     : MAP_FAILED;
    if (page != MAP_FAILED) {
      auto& header = *static_cast<FileHeader*>(page);
      if (KeyOf(header) == TheRecorded().ring_key) {
        header.forked_events += TakeForkedEvents();
        parent = Parent::kLeftItsRing;
      }
      munmap(page, kPageBytes);
    }
  }
  close(fd);
  return parent;
}

// Adds events of children to the store of a recording that has ended.
absl::Status AddToStore(uint64_t events) {
  XP_TRY(Store store, Store::OpenForWriting(TheRecorded().store));
  XP_TRY(const auto source,
         store.One<int64_t>("SELECT source_id FROM process p JOIN recording r ON r.process_id = "
                            "p.id WHERE ring_key = ?1",
                            TheRecorded().ring_key));
  if (!source) return NotFound("another recording has this name");
  XP_TRY(store.AddIssue(*source, kForkedEvents, Severity::kWarning, kForkedEventsAdvice, {}, {},
                        int64_t(events)));
  return store.CloseLog();
}

// Reports, at the end of a child that is not recorded, the events of children that the recording did
// not report before it ended.
void TellForkedEvents() {
  if (shared == nullptr || shared->lost == shared->told) return;
  const uint64_t untold = shared->lost - shared->told;
  Parent parent = AskParent();
  // A recording that has reported for the last time is about to delete its ring.
  constexpr int kMostTries = 10'000;
  for (int i = 0; parent == Parent::kRuns && shared->has_ended && i < kMostTries; ++i) {
    usleep(1000);
    parent = AskParent();
  }
  if (parent == Parent::kRuns) return;
  uint64_t events = untold;
  if (parent == Parent::kHasEnded) {
    events = TakeForkedEvents();
    if (events == 0) return;  // another child has reported them
    (void)AddToStore(events);
  }
  std::fprintf(
      stderr,
      "xlaprof: %s lacks %llu events of forked processes, which went on after its recording. "
      "XLAPROF_RECORD=DIR/ gives each process a file of its own\n",
      TheRecorded().store.c_str(), static_cast<unsigned long long>(events));
}

// A child's own recording, which ends with the child.
class OfChild {
 public:
  ~OfChild() {
    if (recording.load() == kForkedChild) {
      TellForkedEvents();
      return;
    }
    if (!started_) return;
    const auto stats = started_->recording.Stop();
    if (!stats.ok())
      std::fprintf(stderr, "xlaprof: %s\n", std::string(Message(stats.status())).c_str());
  }
  bool Start() {
    auto started = StartForkedChild();
    if (started.ok()) {
      started_.emplace(*std::move(started));
    } else if (!absl::IsFailedPrecondition(started.status())) {
      std::fprintf(stderr, "xlaprof: this forked process is not recorded: %s\n",
                   std::string(Message(started.status())).c_str());
    }
    return started.ok();
  }

 private:
  std::optional<Started> started_;
};

struct Child {
  std::mutex mutex;
  bool was_tried = false;
};
Child& TheChild() {
  static Child& child = *new Child;
  return child;
}

}  // namespace

void PrepareForForks(const std::filesystem::path& store, std::string ring_key) {
  void* page =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared = page == MAP_FAILED ? nullptr : new (page) Shared{};
  TheRecorded() = {store, std::move(ring_key)};
  TheChild();
}

void LoseInForkedChild() {
  if (shared != nullptr) shared->lost.fetch_add(1, std::memory_order_relaxed);
}

uint64_t TakeForkedEvents() {
  if (shared == nullptr) return 0;
  uint64_t told = shared->told, lost = 0;
  do {
    lost = shared->lost;
  } while (!shared->told.compare_exchange_weak(told, lost));
  return lost - told;
}

uint64_t TakeLastForkedEvents() {
  if (shared != nullptr) shared->has_ended = true;
  return TakeForkedEvents();
}

void InForkedChild() {
  new (&TheChild().mutex) std::mutex;
  TheChild().was_tried = false;
}

bool RecordForkedChild() {
  std::lock_guard lock(TheChild().mutex);
  if (recording.load() != kForkedChild) return true;  // another thread has started it
  if (std::exchange(TheChild().was_tried, true)) return false;
  // A child of a recorded child has its parent's object. Its recording is replaced.
  static OfChild of_child;
  return of_child.Start();
}

}  // namespace xlaprof::record
