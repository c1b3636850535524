#include "profiler/record/size_limit.h"

#include <sys/resource.h>

#include <cerrno>
#include <ctime>

namespace xlaprof::record {
namespace {

sigset_t SizeSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  return signals;
}

}  // namespace

absl::Status CheckSizeLimit(const std::filesystem::path& path, off_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      rlim_t(bytes) <= limit.rlim_cur)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format(
      "{}: needs {} bytes, but this process may not write files of more than {}. Raise its limit (ulimit -f)",
      path.string(), bytes, limit.rlim_cur));
}

NoSizeSignal::NoSizeSignal() {
  const sigset_t signals = SizeSignal();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

NoSizeSignal::~NoSizeSignal() {
  if (sigismember(&before_, SIGXFSZ) == 1) return;
  // Discards the signals that came meanwhile, which would be delivered now.
  const sigset_t signals = SizeSignal();
  const timespec at_once{};
  while (sigtimedwait(&signals, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace xlaprof::record
