#include "core/debug/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/source_location.h"
#include "core/exec/call.h"
#include "core/ir/call_stack.h"

namespace xlaprof::lazy::debug {

std::string_view CauseText(std::string_view cause) {
  if (cause == cause::kUserSync) return "user torch_xla.sync";
  if (cause == cause::kLoader) return "torch_xla.sync in parallel loader at step end";
  if (cause == cause::kStepTraceExit)
    return "torch_xla.sync when exiting a profiler StepTrace region";
  return "most likely user code trying to access tensor value before torch_xla.sync";
}

std::string_view BareName(std::string_view op) {
  const size_t colons = op.rfind("::");
  return colons == std::string_view::npos ? op : op.substr(colons + 2);
}

std::vector<std::string> FrameTexts(const observe::Stack& stack) {
  std::vector<std::string> frames;
  const auto add = [&](std::string_view function, std::string_view file, int64_t line) {
    frames.push_back(fmt::format("{} ({}:{})", function, file, line));
  };
  if (const CallStackId calls = CurrentCallStack(); calls != 0 && !stack.empty()) {
    for (const SourcePlace& place : UserPlaces(calls, stack.front()))
      add(place.function, place.file, *place.line);
  } else {
    for (const std::source_location& place : stack)
      add(FunctionName(place), place.file_name(), place.line());
  }
  return frames;
}

std::vector<std::string> FrameTexts(const Cut& cut) {
  std::vector<std::string> frames;
  if (const std::source_location& by = cut.ended_by; by.line() != 0) {
    // The path is that in the repository, wherever the runtime was built.
    std::string_view file = by.file_name();
    if (const size_t folder = file.rfind("/core/"); folder != file.npos)
      file.remove_prefix(folder + 1);
    frames.push_back(fmt::format("xlaprof::lazy::{} ({}:{})", FunctionName(by), file, by.line()));
  }
  std::ranges::move(FrameTexts(StackAt(cut.where)), std::back_inserter(frames));
  return frames;
}

}  // namespace xlaprof::lazy::debug
