#include "profiler/stacks/py_spy.h"

#include <nlohmann/json.hpp>

namespace xlaprof::stacks {
namespace {

using Parsed = nlohmann::json;

std::string TextIn(const Parsed& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}
int64_t NumberIn(const Parsed& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<int64_t>() : 0;
}
bool IsSet(const Parsed& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_boolean() && at->get<bool>();
}

ThreadStack ThreadOf(const Parsed& thread) {
  ThreadStack stack{.pid = NumberIn(thread, "pid"),
                    .tid = NumberIn(thread, "os_thread_id"),
                    .name = TextIn(thread, "thread_name"),
                    .is_active = IsSet(thread, "active"),
                    .holds_gil = IsSet(thread, "owns_gil"),
                    .frames = {}};
  stack.is_main = stack.name == "MainThread" || (stack.tid != 0 && stack.tid == stack.pid);
  if (const auto frames = thread.find("frames"); frames != thread.end() && frames->is_array()) {
    for (const Parsed& frame : *frames) {
      if (!frame.is_object()) continue;
      Frame read{TextIn(frame, "name"), TextIn(frame, "filename"), NumberIn(frame, "line")};
      // An address in place of an unknown name is another one in each process.
      if (read.function.starts_with("0x")) read.function.clear();
      stack.frames.push_back(std::move(read));
    }
  }
  return stack;
}

}  // namespace

absl::StatusOr<std::vector<ThreadStack>> ParsePySpy(std::string_view json) {
  const Parsed threads = Parsed::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!threads.is_array()) return DataLoss("py-spy printed something other than a list of threads");
  std::vector<ThreadStack> stacks;
  for (const Parsed& thread : threads) {
    if (thread.is_object()) stacks.push_back(ThreadOf(thread));
  }
  return stacks;
}

std::string PySpyError(std::string_view err) {
  // The message is "Error: what happened", then lines with the reason and a stack of py-spy itself.
  constexpr std::string_view kError = "Error: ";
  if (const size_t at = err.find(kError); at != err.npos) err.remove_prefix(at + kError.size());
  return std::string(err.substr(0, err.find('\n')));
}

}  // namespace xlaprof::stacks
