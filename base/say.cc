#include "base/say.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace xlaprof {
namespace {

// How long a message waits for a full pipe that its program made non-blocking.
constexpr int kPatienceMs = 1000;

// Keeps a write of this thread from raising SIGPIPE. The signal's disposition belongs to the
// program, so the signal is blocked, and taken if the write raised it.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&sigpipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;

 private:
  bool was_pending_;
  sigset_t sigpipe_, before_;
};

void Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(STDERR_FILENO, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(size_t(wrote));
    } else if (errno == EAGAIN) {
      pollfd full{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      if (poll(&full, 1, kPatienceMs) <= 0) return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

void Say(std::string_view text) {
  const int before = errno;
  {
    const WithoutSigpipe without;
    Write(text);
  }
  errno = before;
}

}  // namespace xlaprof
