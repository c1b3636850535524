#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/escape.h"
#include "core/base/numbers.h"
#include "core/base/unfinished_file.h"

namespace xlaprof {

namespace fs = std::filesystem;

namespace {

constexpr int kDefaultColumns = 100;
constexpr int kMaxColumns = 160;  // longer lines are hard to read on any terminal

int WidthOf(int fd) {
  if (const char* columns = std::getenv("COLUMNS")) {
    std::string_view text = columns;
    if (const int value = TakeInteger<int>(&text).value_or(0); value > 0) return value;
  }
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultColumns;
}

}  // namespace

int TerminalWidth(int fd) { return std::min(WidthOf(fd), kMaxColumns); }

bool WantsColour(std::string_view when) {
  if (when != "auto") return when == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         !(term != nullptr && std::string_view(term) == "dumb");
}

absl::Status OutputExistsError(const std::string& output) {
  return absl::AlreadyExistsError(
      fmt::format("{}: already exists. Choose another name, or pass --force", output));
}

int Fail(const absl::Status& status) {
  fmt::print(stderr, "xlaprof: {}\n", Printable(Message(status), /*keep_newlines=*/true));
  return kExitCouldNot;
}

namespace {

// Writes all of `text`. `name` is the user's name for the file.
absl::Status WriteAll(FILE* file, std::string_view text, const std::string& name) {
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0)
    return absl::OkStatus();
  return IoError("{}: cannot write all of it: {}", name, std::strerror(errno));
}

absl::Status WriteFile(const fs::path& path, std::string_view text, const std::string& name) {
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return IoError("{}: cannot write: {}", name, std::strerror(errno));
  absl::Status status = WriteAll(file, text, name);
  if (std::fclose(file) != 0 && status.ok())
    return IoError("{}: cannot write all of it: {}", name, std::strerror(errno));
  return status;
}

}  // namespace

absl::Status WriteOutput(std::string_view text, const std::string& path) {
  if (path.empty()) return WriteAll(stdout, text, "standard output");
  std::error_code error;
  const fs::file_status own = fs::symlink_status(path, error);
  // A link, a pipe or a device is written to, not replaced.
  if (fs::exists(own) && !fs::is_regular_file(own)) return WriteFile(path, text, path);
  // In a directory without write permission, no temporary file can be put beside the output.
  const fs::path folder = fs::path(path).parent_path();
  if (fs::exists(own) && access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    return WriteFile(path, text, path);
  UnfinishedFile unfinished{fs::path(path)};
  XP_TRY(WriteFile(unfinished.path(), text, path));
  if (fs::exists(own)) fs::permissions(unfinished.path(), own.permissions(), error);
  return unfinished.Finish();
}

}  // namespace xlaprof
