#include "profiler/launch/stderr_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

#include "base/numbers.h"

namespace xlaprof {
namespace {

constexpr std::string_view kPipe = "stderr.pipe", kCopy = "stderr.txt";
// The message of a compilation: "I0000 00:00:1795563983.259546   23619 compilation_cache.cc:627] ..."
constexpr std::string_view kSource = " compilation_cache.cc:";
constexpr size_t kMostBeforeSource = 80;

void WriteAllOf(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      pollfd polled{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&polled, 1, -1);
      continue;
    }
    if (written <= 0) return;
    text.remove_prefix(size_t(written));
  }
}

// Returns whether a line that begins so may be a message that the user did not ask for.
bool MayBeOurs(std::string_view beginning) {
  if (beginning.starts_with('I') && beginning.size() > 1 && !IsDigit(beginning[1])) return false;
  if (!beginning.empty() && beginning.front() != 'I') return false;
  const size_t source = beginning.find(kSource);
  return source != std::string_view::npos ? source <= kMostBeforeSource
                                          : beginning.size() <= kMostBeforeSource + kSource.size();
}

// The process that reads the pipe.
class Reader {
 public:
  Reader(std::filesystem::path folder, int pipe, int launcher, int64_t most_bytes)
      : folder_(std::move(folder)), pipe_(pipe), launcher_(launcher), most_bytes_(most_bytes) {}

  // Gives up everything of the launcher's but standard error, so that nobody waits for this
  // process, and no signal to the command's group reaches it.
  void Detach() const {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    setsid();
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    const auto [low, high] = std::minmax(pipe_, launcher_);
    const auto close_all = [](unsigned first, unsigned last) {
      if (first <= last) syscall(SYS_close_range, first, last, 0);
    };
    close_all(STDERR_FILENO + 1, unsigned(low) - 1);
    close_all(unsigned(low) + 1, unsigned(high) - 1);
    close_all(unsigned(high) + 1, ~0u);
    if (chdir("/") != 0) return;
  }

  void Run() {
    std::array<pollfd, 2> polled{pollfd{.fd = pipe_, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = launcher_, .events = POLLIN, .revents = 0}};
    while (true) {
      if (poll(polled.data(), polled.size(), -1) < 0) continue;
      if (polled[0].revents != 0 && PassOn() == 0) break;
      if (polled[1].revents != 0 && !Answer()) polled[1].fd = -1;
    }
    ShowLine();
    RemovePipe();
  }

 private:
  // Reads once. Returns 0 if the pipe has ended.
  ssize_t PassOn() {
    const ssize_t got = read(pipe_, buffer_.data(), buffer_.size());
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : 0;
    const std::string_view text(buffer_.data(), size_t(got));
    Keep(text);
    line_ += text;
    Show();
    return got;
  }

  // Passes on what waits now, as the launcher asked for, and not what somebody goes on writing.
  // Returns false if the launcher is gone.
  bool Answer() {
    char question;
    if (read(launcher_, &question, 1) != 1) return false;
    int waiting = 0;
    ioctl(pipe_, FIONREAD, &waiting);
    for (ssize_t got; waiting > 0 && (got = PassOn()) > 0;) waiting -= int(got);
    ShowLine();
    return send(launcher_, &left_out_, sizeof left_out_, MSG_NOSIGNAL) == ssize_t(sizeof left_out_);
  }

  void Keep(std::string_view text) {
    // A file of that name is the command's own.
    if (!is_begun_) {
      const std::string path = (folder_ / kCopy).string();
      file_ = Descriptor::Open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
      is_begun_ = true;
    }
    const auto kept = size_t(std::min(int64_t(text.size()), most_bytes_ - bytes_));
    WriteAllOf(file_.get(), text.substr(0, kept));
    bytes_ += int64_t(kept);
    if (kept == text.size()) return;
    if (left_out_ == 0)
      WriteAllOf(
          file_.get(),
          fmt::format("\nxlaprof: standard error goes on after these {} bytes, and is not kept\n",
                      bytes_));
    left_out_ += int64_t(text.size() - kept);
  }

  void Show() {
    std::string shown;
    std::string_view rest = line_;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      const bool is_whole = end != std::string_view::npos;
      const std::string_view line = rest.substr(0, is_whole ? end + 1 : end);
      const bool may_be_ours = MayBeOurs(line);
      if (!is_whole && may_be_ours) break;
      if (!may_be_ours || line.find(kSource) == std::string_view::npos) shown += line;
      rest.remove_prefix(line.size());
    }
    line_.erase(0, line_.size() - rest.size());
    WriteAllOf(STDERR_FILENO, shown);
  }
  void ShowLine() { WriteAllOf(STDERR_FILENO, std::exchange(line_, {})); }

  // Removes the pipe if the launcher was killed before it could.
  void RemovePipe() const { RemoveFile(folder_ / kPipe, IdentityOf(pipe_)); }

  const std::filesystem::path folder_;
  const int pipe_, launcher_;
  const int64_t most_bytes_;
  Descriptor file_;
  bool is_begun_ = false;
  int64_t bytes_ = 0, left_out_ = 0;
  std::string line_;  // what was read of the last line, if it may be a message that is not shown
  std::array<char, 1 << 16> buffer_;
};

}  // namespace

absl::StatusOr<StderrPipe> StderrPipe::Make(const std::filesystem::path& folder,
                                            int64_t most_bytes) {
  const std::string path = (folder / kPipe).string();
  if (mkfifo(path.c_str(), 0600) != 0)
    return IoError("{}: cannot be made: {}", path, std::strerror(errno));
  const auto failed = [&] {
    const int error = errno;
    unlink(path.c_str());
    return IoError("{}: cannot be opened: {}", path, std::strerror(error));
  };
  const Descriptor pipe = OpenToRead(path);
  Descriptor end = Descriptor::Open(path, O_WRONLY | O_NONBLOCK);
  int sockets[2];
  if (!pipe.is_open() || !end.is_open() ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return failed();
  Descriptor reader(sockets[0]);
  const Descriptor launcher(sockets[1]);
  const pid_t child = fork();
  if (child < 0) return failed();
  if (child == 0) {
    Reader process(folder, pipe.get(), launcher.get(), most_bytes);
    process.Detach();
    process.Run();
    _exit(0);
  }
  return StderrPipe(path, std::move(end), std::move(reader));
}

StderrPipe::~StderrPipe() {
  if (!path_.empty()) unlink(path_.c_str());
}

int64_t StderrPipe::Await() {
  const char question = 0;
  int64_t left_out = 0;
  if (send(reader_.get(), &question, 1, MSG_NOSIGNAL) != 1) return 0;
  while (recv(reader_.get(), &left_out, sizeof left_out, 0) < 0 && errno == EINTR) {
  }
  return left_out;
}

}  // namespace xlaprof
