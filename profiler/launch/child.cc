#include "profiler/launch/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/descriptor.h"

namespace xlaprof {
namespace {

// Signals that are passed on. SIGTSTP and its like are not: a terminal stops both processes.
constexpr std::array kPassedOn{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

// Blocks the signals of RunCommand while it lasts, so that a descriptor reports them.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&blocked_);
    sigaddset(&blocked_, SIGCHLD);
    for (int signal : kPassedOn) sigaddset(&blocked_, signal);
    pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;

  const sigset_t& blocked() const { return blocked_; }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t blocked_, before_;
};

// Becomes the command. Writes errno to `failure` if that is impossible.
[[noreturn]] void Execute(const Command& command, std::vector<char*>& words, int failure,
                          const sigset_t& mask) {
  for (const auto& [name, value] : command.environment)
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  std::signal(SIGXFSZ, SIG_DFL);  // xlaprof ignores it
  execvp(words[0], words.data());
  const int error = errno;
  if (write(failure, &error, sizeof error) < 0) _exit(kExitLauncherFailed);
  _exit(kExitLauncherFailed);
}

absl::Status CannotExecute(const std::string& program, int error) {
  if (error == ENOENT)
    return NotFound("{}: no such program. Check its name, or give its whole path", program);
  return absl::PermissionDeniedError(
      fmt::format("{}: cannot be executed ({})", program, std::strerror(error)));
}

int64_t Ns(const timeval& time) {
  return int64_t(time.tv_sec) * 1'000'000'000 + int64_t(time.tv_usec) * 1'000;
}

Ended EndedAs(int status, const rusage& used) {
  Ended ended{.cpu_ns = Ns(used.ru_utime) + Ns(used.ru_stime)};
  if (WIFSIGNALED(status)) {
    ended.signal = WTERMSIG(status);
    ended.exit_status = 128 + ended.signal;
  } else {
    ended.exit_status = WEXITSTATUS(status);
  }
  return ended;
}

// Passes the signals on that wait in `signals`.
void PassOn(int signals, pid_t child) {
  signalfd_siginfo info;
  while (read(signals, &info, sizeof info) == ssize_t(sizeof info)) {
    if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL) kill(child, int(info.ssi_signo));
  }
}

absl::StatusOr<Ended> Await(pid_t child, int signals) {
  pollfd polled{.fd = signals, .events = POLLIN, .revents = 0};
  while (true) {
    if (poll(&polled, 1, -1) < 0 && errno != EINTR)
      return IoError("cannot wait for the command: {}", std::strerror(errno));
    PassOn(signals, child);
    int status = 0;
    rusage used{};
    if (wait4(child, &status, WNOHANG, &used) == child) return EndedAs(status, used);
  }
}

}  // namespace

absl::StatusOr<Ended> RunCommand(const Command& command) {
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return IoError("cannot make a pipe: {}", std::strerror(errno));
  const Descriptor failure(ends[0]);
  Descriptor failing(ends[1]);
  const BlockedSignals blocked;
  const Descriptor signals(signalfd(-1, &blocked.blocked(), SFD_CLOEXEC | SFD_NONBLOCK));
  const pid_t child = fork();
  if (child == 0) Execute(command, words, failing.get(), blocked.before());
  failing = Descriptor();
  if (child < 0) return IoError("cannot make a process: {}", std::strerror(errno));
  int error = 0;
  if (read(failure.get(), &error, sizeof error) == ssize_t(sizeof error)) {
    waitpid(child, nullptr, 0);
    return CannotExecute(command.words[0], error);
  }
  return Await(child, signals.get());
}

}  // namespace xlaprof
