#include "tests/hostile/guarded.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>

#include "base/sanitized.h"

// Sets the sanitizer's own limits: for one allocation, and for all memory.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:hard_rss_limit_mb=3072:allocator_may_return_null=0:"
         "detect_leaks=1";
}

namespace xlaprof {
namespace {

#ifdef XLAPROF_SANITIZED
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

constexpr size_t kMostComplaints = 12;
// Limits everything that a child maps, including files. It is far above what the measurement
// allows, and stops a runaway child.
constexpr rlim_t kAddressSpaceBytes = rlim_t{3} << 30;

// Memory that parent and child share.
struct Board {
  std::atomic<size_t> next;            // the case that runs, or runs next
  std::atomic<int64_t> started_ns;     // when it began; 0 if it has not
  std::atomic<size_t> complaint_size;  // of `next`, if it ended badly but by itself
  char complaint[4096];
};

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

size_t StatusKiB(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return size_t(std::atoll(line.c_str() + std::strlen(key)));
  }
  return 0;
}

// Resets this process's peak to its current memory. Returns false if the kernel does not allow
// that.
bool ResetPeak() {
  int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool done = write(fd, "5", 1) == 1;
  close(fd);
  return done;
}

std::string RunMeasured(const GuardedCase& one) {
  malloc_trim(0);
  const bool measured = !kIsSanitized && ResetPeak();
  const size_t before = StatusKiB("VmRSS:");
  const int64_t started_ns = NowNs();
  std::string complaint;
  try {
    complaint = one.run();
  } catch (const std::bad_alloc&) {
    return "ran out of memory";
  }
  if (!complaint.empty() || !measured) return complaint;
  const size_t allowed = one.memory_bytes > 0 ? one.memory_bytes : kMemoryBytes;
  const size_t peak = StatusKiB("VmHWM:");
  const size_t taken = peak > before ? (peak - before) << 10 : 0;
  if (std::getenv("XLAPROF_HOSTILE_VERBOSE") != nullptr)
    fmt::print("{:5} ms {:5} MiB  {}\n", (NowNs() - started_ns) / 1'000'000, taken >> 20, one.name);
  if (taken <= allowed) return "";
  return fmt::format("took {} MiB of memory, {} MiB are allowed", taken >> 20, allowed >> 20);
}

[[noreturn]] void Child(size_t count, const std::function<GuardedCase(size_t)>& make,
                        Board& board) {
  if (!kIsSanitized) {
    rlimit limit{kAddressSpaceBytes, kAddressSpaceBytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (size_t i = board.next; i < count; ++i) {
    board.started_ns = NowNs();
    std::string complaint = RunMeasured(make(i));
    if (!complaint.empty()) {
      size_t size = std::min(complaint.size(), sizeof board.complaint);
      std::memcpy(board.complaint, complaint.data(), size);
      board.complaint_size = size;
      std::fflush(nullptr);
      _exit(1);
    }
    board.next = i + 1;
  }
  std::fflush(nullptr);
  std::exit(0);  // not _exit, because LeakSanitizer checks now
}

// Waits for the child and returns what happened to it; kills it if its case takes too long.
std::string Watch(pid_t child, const Board& board, size_t count) {
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    int64_t started_ns = board.started_ns;
    if (started_ns > 0 && NowNs() - started_ns > int64_t(kSecondsACase) * 1'000'000'000) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return fmt::format("did not end within {} s", kSecondsACase);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (board.complaint_size > 0) return std::string(board.complaint, board.complaint_size);
  if (WIFSIGNALED(status)) return fmt::format("killed: {}", strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return fmt::format("ended its process with status {}{}", WEXITSTATUS(status),
                       board.next == count ? " after all cases (a leak?)" : "");
  return "";
}

}  // namespace

int HostileScale() {
  const char* scale = std::getenv("XLAPROF_HOSTILE_SCALE");
  return scale == nullptr ? 1 : std::max(1, std::atoi(scale));
}

std::vector<std::string> RunGuarded(size_t count, const std::function<GuardedCase(size_t)>& make) {
  void* shared =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return {"cannot map the shared page"};
  Board& board = *new (shared) Board{};
  std::vector<std::string> complaints;
  while (board.next < count && complaints.size() < kMostComplaints) {
    board.started_ns = 0;
    board.complaint_size = 0;
    std::fflush(nullptr);
    pid_t child = fork();
    if (child < 0) {
      complaints.push_back("cannot fork");
      break;
    }
    if (child == 0) Child(count, make, board);
    std::string complaint = Watch(child, board, count);
    if (complaint.empty()) continue;
    size_t bad = board.next;
    complaints.push_back(
        fmt::format("{}: {}", bad < count ? make(bad).name : "the end", complaint));
    board.next = bad + 1;
  }
  munmap(shared, sizeof(Board));
  return complaints;
}

}  // namespace xlaprof
