#include "profiler/import/shrinking_map.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace xlaprof {
namespace {

struct Guarded {
  std::atomic<uintptr_t> begin{0}, end{0};  // 0: free
  std::atomic<bool> has_shrunk{false};
};
// A handler may neither lock nor allocate.
std::array<Guarded, 64> guarded;
std::mutex guarding;
uintptr_t page_bytes = 0;
struct sigaction before {};

void OnBusError(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Guarded& map : guarded) {
    if (info->si_code != BUS_ADRERR || at < map.begin || at >= map.end) continue;
    const uintptr_t page = at / page_bytes * page_bytes;
    void* const zeros = mmap(reinterpret_cast<void*>(page), map.end - page, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    map.has_shrunk = true;
    return;
  }
  // Whoever was here before us is asked: the instruction runs again; what `kill` sent, does not.
  sigaction(signal, &before, nullptr);
  if (info->si_code <= 0) raise(signal);
}

void InstallHandler() {
  page_bytes = uintptr_t(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

Guarded* Find(const void* begin) {
  for (Guarded& map : guarded) {
    if (map.begin == reinterpret_cast<uintptr_t>(begin)) return &map;
  }
  return nullptr;
}

}  // namespace

void GuardMap(void* begin, size_t size) {
  static std::once_flag installed;
  std::call_once(installed, InstallHandler);
  const std::lock_guard lock(guarding);
  Guarded* const free = Find(nullptr);
  if (free == nullptr) return;
  const auto first = reinterpret_cast<uintptr_t>(begin);
  free->has_shrunk = false;
  free->end = (first + size + page_bytes - 1) / page_bytes * page_bytes;
  free->begin = first;
}

void UnguardMap(void* begin) {
  const std::lock_guard lock(guarding);
  if (Guarded* const map = Find(begin)) {
    map->end = 0;
    map->begin = 0;
  }
}

bool HasMapShrunk(const void* begin) {
  const Guarded* const map = Find(begin);
  return map != nullptr && map->has_shrunk;
}

}  // namespace xlaprof
