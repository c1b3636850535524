#include "profiler/launch/stderr_pipe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

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

}  // namespace

absl::StatusOr<StderrPipe> StderrPipe::Make(const std::filesystem::path& folder) {
  const std::string path = (folder / kPipe).string();
  // Reading and writing, so that the pipe never ends while one process closes it before the next one
  // opens it.
  if (mkfifo(path.c_str(), 0600) != 0)
    return IoError("{}: cannot be made: {}", path, std::strerror(errno));
  StderrPipe pipe(folder, Descriptor::Open(path, O_RDWR | O_NONBLOCK));
  if (!pipe.fd_.is_open()) return IoError("{}: cannot be opened: {}", path, std::strerror(errno));
  return pipe;
}

StderrPipe::StderrPipe(StderrPipe&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      fd_(std::move(other.fd_)),
      file_(std::move(other.file_)),
      line_(std::move(other.line_)) {}

StderrPipe::~StderrPipe() {
  if (folder_.empty()) return;
  WriteAllOf(STDERR_FILENO, line_);
  unlink((folder_ / kPipe).c_str());
}

void StderrPipe::PassOn() {
  std::array<char, 1 << 16> buffer;
  ssize_t got;
  while ((got = read(fd_.get(), buffer.data(), buffer.size())) > 0) {
    const std::string_view text(buffer.data(), size_t(got));
    if (!file_.is_open()) {
      const std::string path = (folder_ / kCopy).string();
      file_ = Descriptor::Open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    }
    WriteAllOf(file_.get(), text);
    line_ += text;
    Show();
  }
}

void StderrPipe::Show() {
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

}  // namespace xlaprof
