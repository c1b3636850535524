#include "profiler/import/map_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace xlaprof {

struct GuardedRange {
  std::atomic<uintptr_t> begin{0}, end{0};  // 0: free
  std::atomic<bool> has_shrunk{false};
};

namespace {

// The table of guarded mappings is a fixed array of atomics, because a handler may neither lock nor
// allocate.
std::array<GuardedRange, 64> ranges;
std::mutex guarding;
const uintptr_t page_bytes = uintptr_t(sysconf(_SC_PAGESIZE));
struct sigaction before{};

void OnBusError(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (GuardedRange& range : ranges) {
    if (info->si_code != BUS_ADRERR || at < range.begin || at >= range.end) continue;
    const uintptr_t page = at / page_bytes * page_bytes;
    void* const zeros = mmap(reinterpret_cast<void*>(page), range.end - page, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    range.has_shrunk = true;
    return;
  }
  // The handler before us takes over. The instruction runs again and faults again, but a signal
  // that was sent by `kill` must be sent again.
  sigaction(signal, &before, nullptr);
  if (info->si_code <= 0) raise(signal);
}

// Returns a place of the table that now holds `mapped`, or null if none is free.
GuardedRange* TakeRange(std::string_view mapped) {
  const std::lock_guard lock(guarding);
  for (GuardedRange& range : ranges) {
    if (range.begin != 0) continue;
    const auto begin = reinterpret_cast<uintptr_t>(mapped.data());
    range.has_shrunk = false;
    range.end = (begin + mapped.size() + page_bytes - 1) / page_bytes * page_bytes;
    range.begin = begin;
    return &range;
  }
  return nullptr;
}

}  // namespace

void InstallMapGuards() {
  struct sigaction action{};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

MapGuard::MapGuard(Descriptor fd, std::string_view mapped)
    : fd_(std::move(fd)), mapped_(mapped), range_(TakeRange(mapped)) {}

MapGuard::~MapGuard() {
  if (range_ == nullptr) return;
  const std::lock_guard lock(guarding);
  range_->end = 0;
  range_->begin = 0;
}

bool MapGuard::HasShrunk() const {
  struct stat info{};
  return (range_ != nullptr && range_->has_shrunk) || fstat(fd_.get(), &info) != 0 ||
         size_t(info.st_size) < mapped_.size();
}

}  // namespace xlaprof
