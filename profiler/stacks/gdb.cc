#include "profiler/stacks/gdb.h"

#include <absl/strings/str_split.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/numbers.h"

namespace xlaprof::stacks {
namespace {

int64_t NumberAt(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return ParseCount(text.substr(0, end)).value_or(0);
}

// Reads `Thread 2 (Thread 0x7f1d (LWP 23541) "python"):`, or the same with `process 23541` where
// gdb knows no threads.
std::optional<ThreadStack> ReadThread(std::string_view line, int64_t pid) {
  if (!line.starts_with("Thread ") || !line.ends_with(":")) return {};
  ThreadStack thread{.pid = pid, .frames = {}};
  for (std::string_view word : {"LWP ", "process "}) {
    if (const size_t at = line.find(word); at != line.npos) {
      thread.tid = NumberAt(line.substr(at + word.size()));
      break;
    }
  }
  if (thread.tid == 0) return {};
  const size_t begin = line.find('"'), end = line.rfind('"');
  if (begin < end) thread.name = line.substr(begin + 1, end - begin - 1);
  thread.is_main = thread.tid == pid;
  return thread;
}

// Removes ` (args)` at the end of a function. Names have parentheses of their own.
std::string_view WithoutArguments(std::string_view function) {
  if (!function.ends_with(')')) return function;
  int open = 0;
  for (size_t at = function.size(); at-- > 0;) {
    if (function[at] == ')') ++open;
    if (function[at] == '(' && --open == 0)
      return at > 1 && function[at - 1] == ' ' ? function.substr(0, at - 1) : function;
  }
  return function;
}

// Reads `#3  0x00007f1d in function (args) at file.c:12`, where parts may be missing.
std::optional<Frame> ReadFrame(std::string_view line) {
  if (!line.starts_with('#')) return {};
  size_t at = line.find_first_not_of("0123456789", 1);
  if (at == 1 || at == line.npos) return {};
  line.remove_prefix(std::min(line.find_first_not_of(' ', at), line.size()));
  if (line.starts_with("0x")) {
    constexpr std::string_view kIn = " in ";
    const size_t in = line.find(kIn);
    if (in == line.npos) return Frame{};
    line.remove_prefix(in + kIn.size());
  }
  Frame frame;
  constexpr std::string_view kAt = " at ", kFrom = " from ";
  const size_t place = line.rfind(kAt), library = line.rfind(kFrom), arguments = line.rfind(')');
  if (place != line.npos && place + 1 > arguments) {
    const std::string_view text = line.substr(place + kAt.size());
    const size_t colon = text.rfind(':');
    if (colon != text.npos) {
      frame.line = NumberAt(text.substr(colon + 1));
      frame.file = text.substr(0, colon);
    }
    line = line.substr(0, place);
  } else if (library != line.npos && library + 1 > arguments) {
    frame.file = line.substr(library + kFrom.size());
    line = line.substr(0, library);
  }
  frame.function = WithoutArguments(line);
  if (frame.function == "??") frame.function.clear();
  return frame;
}

// Reads `  File "/home/a/train.py", line 12, in step`.
std::optional<Frame> ReadPythonFrame(std::string_view line) {
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ", kIn = ", in ";
  if (!line.starts_with(kFile)) return {};
  line.remove_prefix(kFile.size());
  const size_t number = line.rfind(kLine);
  if (number == line.npos) return {};
  const size_t in = line.find(kIn, number + kLine.size());
  if (in == line.npos) return {};
  std::string_view function = line.substr(in + kIn.size());
  function = function.substr(0, function.find(" ("));  // its arguments
  return Frame{std::string(function), std::string(line.substr(0, number)),
               NumberAt(line.substr(number + kLine.size()))};
}

}  // namespace

std::vector<std::string> GdbArguments(int64_t pid, bool runs_python, int most_frames) {
  std::vector<std::string> arguments = {
      "-nx", "-batch",      "-iex", "set debuginfod enabled off",
      "-ex", "set width 0", "-ex",  "set print frame-arguments none"};
  auto add = [&](std::string command) {
    arguments.push_back("-ex");
    arguments.push_back(std::move(command));
  };
  if (runs_python) add("thread apply all py-bt");
  add(fmt::format("thread apply all bt {}", most_frames));
  arguments.push_back("-p");
  arguments.push_back(fmt::to_string(pid));
  return arguments;
}

std::vector<ThreadStack> ParseGdb(std::string_view text, int64_t pid) {
  struct Both {
    ThreadStack thread;
    std::vector<Frame> python;
  };
  std::vector<Both> all;
  Both* current = nullptr;
  for (const absl::string_view read :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    const std::string_view line(read.data(), read.size());
    if (auto thread = ReadThread(line, pid)) {
      auto known = std::ranges::find_if(
          all, [&](const Both& both) { return both.thread.tid == thread->tid; });
      if (known == all.end()) known = all.insert(all.end(), {*std::move(thread), {}});
      current = &*known;
    } else if (current != nullptr) {
      if (auto frame = ReadFrame(line)) current->thread.frames.push_back(*std::move(frame));
      if (auto frame = ReadPythonFrame(line)) current->python.push_back(*std::move(frame));
      if (line.starts_with("(More stack frames follow")) current->thread.is_cut = true;
    }
  }
  std::vector<ThreadStack> stacks;
  for (Both& both : all) {
    if (!both.python.empty()) {
      both.thread.frames = std::move(both.python);
      both.thread.is_cut = false;
    }
    stacks.push_back(std::move(both.thread));
  }
  return stacks;
}

std::string GdbError(std::string_view err) {
  std::string first;
  for (const absl::string_view read :
       absl::StrSplit(absl::string_view(err.data(), err.size()), '\n')) {
    const std::string_view line(read.data(), read.size());
    if (line.starts_with("ptrace: ") || line.starts_with("Could not attach"))
      return std::string(line);
    if (first.empty() && !line.starts_with("warning: ") && !line.starts_with("Undefined command"))
      first = line;
  }
  return first;
}

}  // namespace xlaprof::stacks
