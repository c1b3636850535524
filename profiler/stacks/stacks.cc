#include "profiler/stacks/stacks.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock_ns.h"
#include "profiler/record/live_scopes.h"
#include "profiler/stacks/gdb.h"
#include "profiler/stacks/ptrace.h"
#include "profiler/stacks/py_spy.h"
#include "profiler/stacks/run_tool.h"

namespace xlaprof::stacks {
namespace {

constexpr int kMostFrames = 200;
constexpr unsigned kAtOnce = 4;  // tools that run at the same time
constexpr int64_t kSecondNs = 1'000'000'000;

// Returns what is left of a time that ends at `until_ns`, at most `most_ns`.
int64_t Left(int64_t until_ns, int64_t most_ns) {
  return std::min(until_ns - ClockNs(CLOCK_MONOTONIC), most_ns);
}

bool HasEnded(int64_t pid) { return kill(pid_t(pid), 0) != 0 && errno == ESRCH; }

char StateNow(int64_t pid) {
  const auto tree = ProcessTree(pid);
  return tree.ok() ? tree->front().state : '?';
}

// Looks into one process with the tools that suit it.
class Looker {
 public:
  Looker(const ProcessInfo& process, const Options& options, int64_t until_ns)
      : process_(process),
        options_(options),
        until_ns_(std::min(until_ns, ClockNs(CLOCK_MONOTONIC) + options.process_timeout_ns)) {}

  std::vector<ThreadStack> Stacks(ProcessLook& look) {
    if (process_.state == 'Z' || process_.state == 'X') {
      look.error = "it has ended, and its parent has not asked how";
      return {};
    }
    if (Left(until_ns_, kSecondNs) <= 0) {
      look.error = "the time was up before it was its turn. --timeout sets a longer one";
      return {};
    }
    std::vector<ThreadStack> stacks = process_.runs_python ? PySpyThenGdb() : Gdb();
    if (stacks.empty()) {
      look.error = WhyNone();
      look.is_forbidden = is_forbidden_;
    } else {
      look.tool = tool_;
    }
    // A tool that is ended while it attaches may leave the process stopped.
    if (timed_out_ && process_.state != 'T' && StateNow(process_.pid) == 'T')
      kill(pid_t(process_.pid), SIGCONT);
    return stacks;
  }

 private:
  std::string WhyNone() {
    if (HasEnded(process_.pid)) return "it ended meanwhile";
    if (error_.empty()) {
      return process_.runs_python ? "neither py-spy nor gdb is there"
                                  : "gdb is not there, and py-spy reads only Python";
    }
    // The kernel makes the same checks for whatever reads another process.
    is_forbidden_ = process_.tracer_pid != 0 || MayLookInto(process_.pid) == false;
    if (!is_forbidden_) return error_;
    return WhyForbidden(ReadPtraceFacts(process_), fmt::format("xlaprof stacks {}", process_.pid));
  }

  std::vector<ThreadStack> PySpyThenGdb() {
    std::vector<ThreadStack> stacks = PySpy();
    return stacks.empty() ? Gdb() : stacks;
  }

  void AddError(std::string_view tool, std::string_view text) {
    if (text.empty()) text = "printed no stack";
    error_ += fmt::format("{}{}: {}", error_.empty() ? "" : "; ", tool, text);
  }

  // Runs a tool and returns what it printed. Adds an error if it could not.
  std::optional<ToolOutput> Run(const char* name, const std::vector<std::string>& arguments) {
    const int64_t left_ns = Left(until_ns_, options_.process_timeout_ns);
    if (left_ns <= 0) {
      AddError(name, "no time was left for it. --timeout sets a longer time");
      return {};
    }
    auto output = RunTool(arguments, left_ns);
    if (!output.ok()) {
      AddError(name, Message(output.status()));
      return {};
    }
    timed_out_ |= output->timed_out;
    if (output->timed_out) {
      AddError(name, fmt::format("was ended after {} s. --timeout sets a longer time",
                                 (left_ns + kSecondNs / 2) / kSecondNs));
      return {};
    }
    return *std::move(output);
  }

  std::vector<ThreadStack> PySpy() {
    const auto path = FindTool("py-spy", process_.environment_bins);
    if (path.empty()) return {};
    std::vector<std::string> arguments = {path, "dump", "--json", "--pid",
                                          fmt::to_string(process_.pid)};
    if (options_.native) arguments.push_back("--native");
    // Such a process does not stop for py-spy, which would wait. It also does not run.
    if (process_.tracer_pid != 0 || process_.state == 'D' || process_.state == 'T')
      arguments.push_back("--nonblocking");
    const auto output = Run("py-spy", arguments);
    if (!output) return {};
    auto stacks = ParsePySpy(output->out);
    if (!stacks.ok() || stacks->empty()) {
      AddError("py-spy", output->err.empty() && !stacks.ok() ? std::string(Message(stacks.status()))
                                                             : PySpyError(output->err));
      return {};
    }
    // Inside a container, Python knows other numbers.
    for (ThreadStack& stack : *stacks) stack.pid = process_.pid;
    tool_ = "py-spy";
    return *std::move(stacks);
  }

  std::vector<ThreadStack> Gdb() {
    const auto path = FindTool("gdb");
    if (path.empty()) return {};
    std::vector<std::string> arguments = {path};
    for (std::string& argument : GdbArguments(process_.pid, process_.runs_python, kMostFrames))
      arguments.push_back(std::move(argument));
    const auto output = Run("gdb", arguments);
    if (!output) return {};
    std::vector<ThreadStack> stacks = ParseGdb(output->out, process_.pid);
    if (stacks.empty()) AddError("gdb", GdbError(output->err));
    tool_ = "gdb";
    return stacks;
  }

  const ProcessInfo& process_;
  const Options& options_;
  const int64_t until_ns_;
  std::string tool_, error_;
  bool timed_out_ = false, is_forbidden_ = false;
};

void ReadScopes(ProcessLook& look) {
  for (const std::filesystem::path& ring : RingsOf(look.process.pid)) {
    auto live = ReadLiveScopes(ring);
    // A forked child has the file of its parent open, too.
    if (!live.ok() || live->pid != look.process.own_pid) continue;
    look.is_recorded = true;
    for (OpenThread& thread : live->threads) look.open.push_back(std::move(thread));
  }
}

// Names threads as the program that records itself names them. gdb knows only the names of the
// system, which are short and often the program's.
void NameThreads(const ProcessLook& look, std::vector<ThreadStack>& stacks) {
  for (ThreadStack& stack : stacks) {
    const auto known = std::ranges::find(look.open, OptInt(stack.tid), &OpenThread::tid);
    if (known != look.open.end() && !known->name.empty()) stack.name = known->name;
  }
}

bool HasTools(const ProcessInfo& process) {
  return !FindTool("py-spy", process.environment_bins).empty() || !FindTool("gdb").empty();
}

constexpr const char* kInstall =
    "Neither py-spy nor gdb is on PATH, so no stack can be read. For Python: pip install py-spy. For C++: apt-get install gdb, or dnf install gdb";

}  // namespace

std::string MissingTools(const Look& look) {
  const bool has_tools = std::ranges::any_of(
      look.processes, [](const ProcessLook& one) { return HasTools(one.process); });
  return has_tools ? "" : kInstall;
}

absl::StatusOr<Look> LookInto(int64_t pid, const Options& options) {
  XP_TRY(std::vector<ProcessInfo> tree, ProcessTree(pid));
  Look look;
  for (const ProcessInfo& process : tree) {
    look.processes.push_back({.process = process, .open = {}});
    ReadScopes(look.processes.back());
  }
  const bool is_recorded = std::ranges::any_of(look.processes, &ProcessLook::is_recorded);
  if (!is_recorded && !std::ranges::any_of(tree, HasTools)) return NotFound("{}", kInstall);
  const int64_t until_ns = ClockNs(CLOCK_MONOTONIC) + options.total_timeout_ns;
  std::vector<std::vector<ThreadStack>> stacks(look.processes.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < look.processes.size(); i = next++) {
      ProcessLook& one = look.processes[i];
      stacks[i] = Looker(one.process, options, until_ns).Stacks(one);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::min<size_t>(kAtOnce, look.processes.size()); ++i)
      threads.emplace_back(work);
    work();
  }
  std::vector<ThreadStack> all;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const ProcessLook& one = look.processes[i];
    NameThreads(one, stacks[i]);
    look.has_python_lines_missing |=
        one.process.runs_python && one.tool == "gdb" &&
        std::ranges::none_of(stacks[i], [](const ThreadStack& stack) {
          return std::ranges::any_of(
              stack.frames, [](const Frame& frame) { return frame.file.ends_with(".py"); });
        });
    for (ThreadStack& stack : stacks[i]) all.push_back(std::move(stack));
  }
  look.groups = GroupStacks(std::move(all), tree);
  return look;
}

}  // namespace xlaprof::stacks
