#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "analyzers/report/report_layout.h"
#include "base/escape.h"
#include "base/say.h"
#include "cli/terminal.h"

namespace xlaprof {
namespace {

constexpr auto kSilent = std::chrono::seconds(1);               // shorter work needs no bar
constexpr auto kBetweenDraws = std::chrono::milliseconds(100);  // smooth enough for the eye
constexpr int kBarColumns = 30;

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::Update(double fraction, std::string_view what) {
  if (!terminal_) return;
  Clock::time_point now = Clock::now();
  if (now - start_ < kSilent || (visible_ && now - drawn_ < kBetweenDraws)) return;
  drawn_ = now;
  visible_ = true;
  Say(fmt::format("\r\x1b[K{}", ProgressLine(fraction, what, TerminalWidth(STDERR_FILENO) - 1)));
}

void Progress::Done() {
  if (!visible_) return;
  visible_ = false;
  Say("\r\x1b[K");
}

std::string ProgressLine(double fraction, std::string_view what, int width) {
  fraction = std::clamp(fraction, 0.0, 1.0);
  int bar = std::clamp(width - 20, 4, kBarColumns);
  int full = int(fraction * bar);
  std::string line =
      fmt::format("[{}{}{}] {:3d} %  ", std::string(size_t(full), '='), full < bar ? ">" : "",
                  std::string(size_t(std::max(0, bar - full - 1)), ' '), int(fraction * 100));
  return line + Ellipsize(Printable(what), std::max(0, width - DisplayWidth(line)));
}

}  // namespace xlaprof
