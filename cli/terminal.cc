#include "cli/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/escape.h"
#include "base/numbers.h"
#include "base/say.h"

namespace xlaprof {

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

bool WantsColour(std::string_view when, int fd) {
  if (when != "auto") return when == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0') &&
         !(term != nullptr && std::string_view(term) == "dumb");
}

int Fail(const absl::Status& status) {
  Say(fmt::format("xlaprof: {}\n", Printable(Message(status), /*keep_newlines=*/true)));
  return kExitCouldNot;
}

absl::Status Print(std::string_view text) {
  const bool had_failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 &&
      !had_failed)
    return absl::OkStatus();
  return IoError("standard output: cannot write all of it: {}",
                 std::strerror(errno == 0 ? EIO : errno));
}

}  // namespace xlaprof
