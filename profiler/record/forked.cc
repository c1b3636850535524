#include "profiler/record/forked.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "profiler/record/own_streams.h"
#include "profiler/record/recover.h"
#include "profiler/record/ring_file.h"
#include "profiler/record/start_at.h"
#include "profiler/record/truncation.h"

namespace xlaprof::record {
namespace {

// The header of the ring in which children count, or private memory while nothing is recorded. Its
// address never changes, because threads may count while another thread replaces it.
FileHeader* counted = nullptr;

// Maps the file, or private memory if none is open, in the place of `counted`. A failure leaves
// what is there.
void MapCount(const Descriptor& file) {
  const int fd = file.get();
  const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* page = mmap(counted, kPageBytes, PROT_READ | PROT_WRITE,
                    kind | (counted != nullptr ? MAP_FIXED : 0), fd, 0);
  if (counted != nullptr || page == MAP_FAILED) return;
  counted = static_cast<FileHeader*>(page);
  GuardMapping(page, kPageBytes);
}

// The store of the recording to which `counted` belongs.
std::filesystem::path& TheStore() {
  static std::filesystem::path& store = *new std::filesystem::path;
  return store;
}

// Adds the count to the store when a child that is not recorded exits, if the recording has ended.
// While it runs, or if its process was killed, the ring keeps the count.
struct AtExit {
  ~AtExit();
};
AtExit::~AtExit() {
  if (recording.load() != kForkedChild || counted == nullptr || counted->only_counts == 0) return;
  ReleaseCount();  // so that the last child removes the ring
  const auto recovered = RecoverRecording(TheStore());
  if (!recovered.ok() || recovered->forked == 0) return;
  Tell(fmt::format(
      "{} lacks {} events of forked processes, which went on after its recording. XLAPROF_RECORD=DIR/ gives each process a file of its own",
      TheStore().string(), recovered->forked));
}

// A child's own recording, which ends with the child.
class OfChild {
 public:
  ~OfChild() { Stop(); }
  bool Start() {
    auto started = StartForkedChild();
    if (started.ok()) {
      started_.emplace(*std::move(started));
    } else if (!absl::IsFailedPrecondition(started.status())) {
      Tell(fmt::format("this forked process is not recorded: {}",
                       std::string_view(Message(started.status()))));
    }
    return started.ok();
  }
  void Stop() {
    if (!started_) return;
    const auto stats = started_->recording.Stop();
    started_.reset();
    if (!stats.ok()) Tell(Message(stats.status()));
  }

 private:
  std::optional<Started> started_;
};
// A child of a recorded child has its parent's object. Its recording is replaced.
OfChild& TheRecordingOfChild() {
  static OfChild of_child;
  return of_child;
}

struct Child {
  std::mutex mutex;
  bool was_tried = false;
};
Child& TheChild() {
  static Child& child = *new Child;
  return child;
}

}  // namespace

void PrepareForForks(const std::filesystem::path& store) {
  TheStore() = store;
  TheChild();
  static const AtExit at_exit;  // in the children, too
  MapCount(Descriptor());
  const Descriptor ring = Descriptor::Open(RingPath(store), O_RDWR);
  if (!ring.is_open()) return;
  // A child that records for itself counts nothing, so no ring is left for it.
  if (!RecordsForkedChildren()) RingFile::Hold(ring);
  // The mapping keeps the lock until it is gone from all processes that inherit it.
  MapCount(ring);
}

void ReleaseCount() {
  if (counted != nullptr) MapCount(Descriptor());
}

void LoseInForkedChild() {
  if (counted != nullptr) counted->forked_events.fetch_add(1, std::memory_order_relaxed);
}

void InForkedChild() {
  new (&TheChild().mutex) std::mutex;
  TheChild().was_tried = false;
  // The fork came while the recording started or ended.
  if (recording.load() != kForkedChild) ReleaseCount();
}

bool RecordForkedChild() {
  std::lock_guard lock(TheChild().mutex);
  if (recording.load() != kForkedChild) return true;  // another thread has started it
  if (std::exchange(TheChild().was_tried, true)) return false;
  return TheRecordingOfChild().Start();
}

void EndForkedChild() {
  std::lock_guard lock(TheChild().mutex);
  if (TheChild().was_tried) TheRecordingOfChild().Stop();
}

}  // namespace xlaprof::record
