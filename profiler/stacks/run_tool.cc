#include "profiler/stacks/run_tool.h"

#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/clock_ns.h"
#include "base/descriptor.h"

extern char** environ;

namespace xlaprof::stacks {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostOutput = size_t(64) << 20;
constexpr int64_t kGraceNs = 1'000'000'000;

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) read_end = Descriptor(ends[0]), write_end = Descriptor(ends[1]);
  }
  Descriptor read_end, write_end;
};

absl::StatusOr<pid_t> Start(const std::vector<std::string>& arguments, const Pipe& out,
                            const Pipe& err) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end.get(), STDERR_FILENO);
  // A group of its own, so that what it starts ends with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return IoError("{}: cannot be run: {}", arguments[0], std::strerror(error));
  return pid;
}

// Reads what is there. Returns false at the end.
bool ReadSome(Pipe& pipe, std::string& text) {
  char buffer[1 << 16];
  const ssize_t got = read(pipe.read_end.get(), buffer, sizeof buffer);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  text.append(buffer, std::min(size_t(got), kMostOutput - std::min(kMostOutput, text.size())));
  return true;
}

// Returns whether only this user and root can change what is at `path`.
bool IsOurs(const fs::path& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) == 0 &&
         (info.st_uid == 0 || info.st_uid == geteuid());
}
bool IsSafe(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);  // it may be a link
  return !error && fs::is_regular_file(real, error) && IsOurs(real) && IsOurs(real.parent_path()) &&
         IsOurs(file.parent_path());
}

}  // namespace

absl::StatusOr<ToolOutput> RunTool(const std::vector<std::string>& arguments, int64_t timeout_ns) {
  Pipe out, err;
  if (!out.read_end.is_open() || !err.read_end.is_open())
    return IoError("pipe: {}", std::strerror(errno));
  XP_TRY(const pid_t pid, Start(arguments, out, err));
  out.write_end = Descriptor();
  err.write_end = Descriptor();
  ToolOutput result;
  int64_t until_ns = ClockNs(CLOCK_MONOTONIC) + timeout_ns;
  int warnings = 0;  // signals that were sent
  int status = 0;
  bool has_ended = false;
  // Returns false when nothing ends the tool, because the kernel does not let go of it.
  auto end_when_late = [&] {
    const int64_t now_ns = ClockNs(CLOCK_MONOTONIC);
    if (now_ns < until_ns) return true;
    result.timed_out = true;
    if (warnings == 2) return false;
    kill(-pid, warnings++ == 0 ? SIGTERM : SIGKILL);
    until_ns = now_ns + kGraceNs;
    return true;
  };
  while (!has_ended || out.read_end.is_open() || err.read_end.is_open()) {
    pollfd polled[2] = {{out.read_end.get(), POLLIN, 0}, {err.read_end.get(), POLLIN, 0}};
    constexpr int kPollMs = 20;
    poll(polled, 2, kPollMs);
    if (polled[0].revents != 0 && !ReadSome(out, result.out)) out.read_end = Descriptor();
    if (polled[1].revents != 0 && !ReadSome(err, result.err)) err.read_end = Descriptor();
    if (!has_ended) has_ended = waitpid(pid, &status, WNOHANG) == pid;
    // Processes that the tool started may keep the pipes open.
    const bool is_silent = polled[0].revents == 0 && polled[1].revents == 0;
    if (has_ended && (is_silent || ClockNs(CLOCK_MONOTONIC) >= until_ns)) break;
    if (!has_ended && !end_when_late()) break;
  }
  if (has_ended && WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

fs::path FindTool(const std::string& name, std::span<const fs::path> more) {
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    if (folder.empty()) continue;  // the working directory may be anybody's
    const fs::path file = fs::path(std::string(folder)) / name;
    std::error_code error;
    if (access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, error)) return file;
  }
  for (const fs::path& folder : more) {
    const fs::path file = folder / name;
    if (file.is_absolute() && access(file.c_str(), X_OK) == 0 && IsSafe(file)) return file;
  }
  return {};
}

}  // namespace xlaprof::stacks
