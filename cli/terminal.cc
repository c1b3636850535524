#include "cli/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/escape.h"
#include "base/numbers.h"

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
  fmt::print(stderr, "xlaprof: {}\n", Printable(Message(status), /*keep_newlines=*/true));
  return kExitCouldNot;
}

absl::Status WriteAll(FILE* file, std::string_view text, const std::string& name) {
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0)
    return absl::OkStatus();
  return IoError("{}: cannot write all of it: {}", name, std::strerror(errno));
}

absl::Status Print(std::string_view text) { return WriteAll(stdout, text, "standard output"); }

}  // namespace xlaprof
