#include "profiler/record/forked.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "profiler/record/start_at.h"

namespace xlaprof::record {
namespace {

std::atomic<uint64_t>* lost_events = nullptr;  // in memory that parents and children share

// A child's own recording, which ends with the child.
class OfChild {
 public:
  ~OfChild() {
    if (!started_ || recording.load() == kForkedChild) return;  // or this is a child's forked child
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

void PrepareForForks() {
  if (lost_events != nullptr) return;
  void* page =
      mmap(nullptr, sizeof *lost_events, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) lost_events = new (page) std::atomic<uint64_t>(0);
  TheChild();
}

void LoseInForkedChild() {
  if (lost_events != nullptr) lost_events->fetch_add(1, std::memory_order_relaxed);
}

uint64_t ForkedEvents() {
  return lost_events == nullptr ? 0 : lost_events->load(std::memory_order_relaxed);
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
