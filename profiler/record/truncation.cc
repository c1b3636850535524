#include "profiler/record/truncation.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "profiler/record/ring_file.h"

namespace xlaprof::record {
namespace {

// The table is a fixed array of atomics, because a handler may neither lock nor allocate.
struct Range {
  std::atomic<uintptr_t> begin{0};  // 0: free
  std::atomic<size_t> bytes{0};
};
constinit std::array<Range, kMaxSegments + 8> ranges;
constinit std::atomic<bool> was_truncated{false};
constinit std::mutex guarding;
struct sigaction before{};

void OnBusError(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Range& range : ranges) {
    const uintptr_t begin = range.begin.load();
    if (begin == 0 || info->si_code != BUS_ADRERR || at < begin || at - begin >= range.bytes.load())
      continue;
    // The system call itself, because the thread sanitizer takes `mmap` for a write of the whole
    // range, and reports a race with the threads that read it meanwhile.
    const long zeros = syscall(SYS_mmap, begin, range.bytes.load(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros == -1) break;
    was_truncated = true;
    recording = 0;
    return;
  }
  // The handler before us takes over. The instruction runs again and faults again, but a signal
  // that was sent by `kill` must be sent again.
  sigaction(signal, &before, nullptr);
  if (info->si_code <= 0) raise(signal);
}

}  // namespace

void GuardAgainstTruncation() {
  static const bool is_installed = [] {
    struct sigaction action{};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &before) == 0;
  }();
  (void)is_installed;
}

void GuardMapping(const void* begin, size_t bytes) {
  const std::lock_guard lock(guarding);
  for (Range& range : ranges) {
    if (range.begin != 0) continue;
    range.bytes = bytes;
    range.begin = reinterpret_cast<uintptr_t>(begin);
    return;
  }
}

void UnguardMapping(const void* begin) {
  const std::lock_guard lock(guarding);
  for (Range& range : ranges)
    if (range.begin == reinterpret_cast<uintptr_t>(begin)) range.begin = 0;
}

bool WasTruncated() { return was_truncated; }
void ForgetTruncation() { was_truncated = false; }

}  // namespace xlaprof::record
