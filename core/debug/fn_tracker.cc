#include "core/debug/fn_tracker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/debug/frames.h"
#include "core/environment.h"
#include "core/ir/call_stack.h"

namespace xlaprof::lazy::debug {
namespace {

std::string CppStack() {
  std::string text = "*** Begin stack trace ***\n";
  for (const std::string& function : FunctionsOfThread()) text += fmt::format("\t{}\n", function);
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
