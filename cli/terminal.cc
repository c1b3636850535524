#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "core/base/escape.h"

namespace xlaprof {
namespace {

constexpr int kDefaultColumns = 100;
constexpr int kMaxColumns = 160;  // longer lines are hard to read, whatever the terminal

int WidthOf(int fd) {
  if (const char* columns = std::getenv("COLUMNS")) {
    int value = 0;
    if (std::from_chars(columns, columns + std::strlen(columns), value).ec == std::errc() &&
        value > 0)
      return value;
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

int Fail(const absl::Status& status) {
  fmt::print(stderr, "xlaprof: {}\n", Printable(Message(status), /*keep_newlines=*/true));
  return kExitCouldNot;
}

absl::Status WriteOutput(std::string_view text, const std::string& path) {
  FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return IoError("{}: cannot write: {}", path, std::strerror(errno));
  bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  good = std::fflush(file) == 0 && good;
  int error = errno;
  if (!path.empty()) good = std::fclose(file) == 0 && good;
  if (!good)
    return IoError("{}: cannot write all of it: {}", path.empty() ? "standard output" : path,
                   std::strerror(error));
  return absl::OkStatus();
}

}  // namespace xlaprof
