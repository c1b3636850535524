#include "core/debug/frames.h"

#include <fmt/format.h>

#include "base/source_location.h"
#include "core/exec/cut.h"
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

std::vector<std::string> FrameTexts(std::string_view cause, const observe::Stack& stack) {
  std::vector<std::string> frames;
  if (cause != cause::kValueAccess) frames.push_back("sync (<xlaprof>/torch_xla.py:1)");
  if (cause == cause::kLoader) frames.push_back("next (<xlaprof>/parallel_loader.py:1)");
  if (cause == cause::kStepTraceExit) frames.push_back("__exit__ (<xlaprof>/profiler.py:1)");
  for (std::string& frame : FrameTexts(stack)) frames.push_back(std::move(frame));
  return frames;
}

}  // namespace xlaprof::lazy::debug
