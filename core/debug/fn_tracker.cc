#include "core/debug/fn_tracker.h"

#include <absl/debugging/symbolize.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/debug/frames.h"
#include "core/environment.h"

namespace xlaprof::lazy::debug {
namespace {

std::string CppStack() {
  constexpr int kMaxDepth = 64;
  void* frames[kMaxDepth];
  const int depth = backtrace(frames, kMaxDepth);
  std::string text = "*** Begin stack trace ***\n";
  for (int i = 1; i < depth; ++i) {  // frame 0 is this function
    char symbol[512];
    // The address is the return address, so the call precedes it.
    const char* call = static_cast<const char*>(frames[i]) - 1;
    text +=
        fmt::format("\t{}\n", absl::Symbolize(call, symbol, sizeof symbol) ? symbol : "(unknown)");
  }
  return text + "*** End stack trace ***\n";
}

}  // namespace

bool IsTracked(std::string_view op) {
  const Environment& asked = environment();
  return !asked.fn_tracker_file.empty() &&
         (asked.fn_tracker_list.empty() ||
          std::find(asked.fn_tracker_list.begin(), asked.fn_tracker_list.end(), BareName(op)) !=
              asked.fn_tracker_list.end());
}

std::string FnTrackerSection(std::string_view op, const std::vector<std::string>& frames) {
  std::string text = fmt::format("[TAG {} From Thread {}]\nFrames:\n", BareName(op), gettid());
  for (const std::string& frame : frames) text += fmt::format("  {}\n", frame);
  return text + "\nC++ Frames:\n" + CppStack() + "\n";
}

}  // namespace xlaprof::lazy::debug
