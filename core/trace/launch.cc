#include "core/trace/launch.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/exec/call.h"
#include "core/exec/rank.h"
#include "core/log.h"
#include "core/trace/ranks.h"

extern char** environ;

namespace xlaprof::lazy::internal {
namespace {

using Run = std::function<void(int64_t rank, Parcel arguments)>;

// Names what a started process gets: descriptors of the board, of the arguments and of the pipe for
// its error, its rank, and which call of launch() it is for.
constexpr const char* kVariable = "XLAPROF_LAUNCH";
// After a rank failed, the others have so long to notice it, and then so long to end.
constexpr int64_t kGraceMs = 4'000, kEndMs = 4'000;
constexpr int64_t kLookMs = 10;

struct Started {
  int board, arguments, error;
  int64_t rank, call;
};

// Returns what this process was started for, if another one's launch() started it.
const std::optional<Started>& WhatStarted() {
  static const std::optional<Started> started = [] {
    const char* text = std::getenv(kVariable);
    std::optional<Started> read;
    if (text == nullptr) return read;
    std::vector<int64_t> numbers;
    for (absl::string_view part : absl::StrSplit(text, ',')) {
      int64_t& number = numbers.emplace_back();
      if (!absl::SimpleAtoi(part, &number)) numbers.clear();
    }
    if (numbers.size() == 5)
      read = {int(numbers[0]), int(numbers[1]), int(numbers[2]), numbers[3], numbers[4]};
    unsetenv(kVariable);  // processes that this one starts are not ranks
    return read;
  }();
  return started;
}

std::string ReadPipe(int descriptor) {
  std::string all;
  char part[4096];
  for (ssize_t count; (count = read(descriptor, part, sizeof part)) > 0;)
    all.append(part, size_t(count));
  return all;
}

// Reads a file from its beginning. Other processes may read it at the same time by the same
// descriptor, which has one position for all, so this does not use the position.
std::string ReadFile(int descriptor) {
  std::string all;
  char part[4096];
  for (ssize_t count; (count = pread(descriptor, part, sizeof part, off_t(all.size()))) > 0;)
    all.append(part, size_t(count));
  return all;
}

// Calls the function in a process that was started for it, and ends the process.
[[noreturn]] void BeRank(const Started& started, const Run& run, Where where) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::string failure;
  absl::StatusOr<std::shared_ptr<Board>> board = Board::Open(started.board);
  if (!board.ok()) {
    failure = Message(board.status());
  } else {
    Device& device = Device::Default();
    device.set_rank(std::make_shared<Rank>(*board, started.rank));
    failure = RunAsRank(device, [&] {
                run(started.rank, Parcel(ReadFile(started.arguments)));
              }).why;
    if (!failure.empty()) (*board)->Fail(started.rank, failure);
  }
  if (!failure.empty() && write(started.error, failure.data(), failure.size()) < 0)
    Log(LogLevel::kError, "rank {} failed: {}\n  at {}:{}", started.rank, failure,
        where.file_name(), where.line());
  std::exit(failure.empty() ? 0 : 1);
}

// A descriptor that is closed with it, and that only named children inherit.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ~Descriptor() { Close(); }
  int get() const { return number_; }
  void Close() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

struct Process {
  pid_t pid = 0;
  Descriptor error;  // the end of the pipe that is read
  bool has_ended = false;
};

std::vector<std::string> OwnArguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words = absl::StrSplit(all, '\0');
  if (!words.empty()) words.pop_back();  // after the last end of a word
  return words;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns the environment of a rank. Each rank gets its share of the cores.
std::vector<std::string> EnvironmentOf(int64_t rank, int64_t ranks, const std::string& started) {
  std::vector<std::string> variables{fmt::format("{}={}", kVariable, started),
                                     fmt::format("PJRT_LOCAL_PROCESS_RANK={}", rank),
                                     fmt::format("RANK={}", rank),
                                     fmt::format("LOCAL_RANK={}", rank),
                                     fmt::format("WORLD_SIZE={}", ranks)};
  if (std::getenv("XLAPROF_THREADS") == nullptr) {
    const int64_t cores = int64_t(std::thread::hardware_concurrency());
    variables.push_back(fmt::format("XLAPROF_THREADS={}", std::max<int64_t>(1, cores / ranks)));
  }
  const size_t own = variables.size();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool is_set = std::any_of(variables.begin(), variables.begin() + ptrdiff_t(own),
                                    [&](const std::string& set) { return set.starts_with(name); });
    if (!is_set) variables.emplace_back(text);
  }
  return variables;
}

absl::StatusOr<Process> Start(const Board& board, int arguments, int64_t rank, int64_t call) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return IoError("a pipe: {}", std::strerror(errno));
  Process process{.error = Descriptor(ends[0])};
  const Descriptor written(ends[1]);
  std::vector<std::string> words = OwnArguments();
  std::vector<std::string> variables =
      EnvironmentOf(rank, board.ranks(),
                    fmt::format("{},{},{},{},{}", board.descriptor(), arguments, ends[1], rank, call));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int kept : {board.descriptor(), arguments, ends[1]})
    posix_spawn_file_actions_adddup2(&actions, kept, kept);  // is kept when the program starts
  const int error = posix_spawn(&process.pid, "/proc/self/exe", &actions, nullptr,
                                Pointers(words).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return IoError("a process: {}", std::strerror(error));
  return process;
}

// Returns why a process that has ended failed, or nothing.
std::string WhyFailed(Process& process, int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return fmt::format("it was killed by signal {} ({})", number, strsignal(number));
  }
  if (std::string text = ReadPipe(process.error.get()); !text.empty()) return text;
  if (WEXITSTATUS(status) != 0)
    return fmt::format("it ended with status {}", WEXITSTATUS(status));
  return "";
}

// Waits for all processes. Returns the first failure, or nothing. Ends the others after one.
std::string WaitForAll(std::vector<Process>& processes, Board& board) {
  std::string first;
  int64_t waited_ms = 0, sent = 0;
  size_t left = processes.size();
  while (left > 0) {
    for (size_t rank = 0; rank < processes.size(); ++rank) {
      Process& process = processes[rank];
      int status = 0;
      if (process.has_ended || waitpid(process.pid, &status, WNOHANG) != process.pid) continue;
      process.has_ended = true;
      --left;
      std::string why = WhyFailed(process, status);
      const std::string early = "it ended before its function returned";
      board.Fail(int64_t(rank), why.empty() ? early : why);  // no effect if it said so itself
      if (why.empty() && !board.has_ended(int64_t(rank))) why = early;
      if (why.empty() || !first.empty()) continue;
      // A rank may have failed because of another one, which the board then names.
      const absl::Status cause = board.status();
      first = cause.ok() ? fmt::format("rank {} failed: {}", rank, why) : Message(cause);
    }
    if (left == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
    if (first.empty()) continue;
    waited_ms += kLookMs;
    const int signal = sent == 0 && waited_ms > kGraceMs            ? SIGTERM
                       : sent == 1 && waited_ms > kGraceMs + kEndMs ? SIGKILL
                                                                    : 0;
    if (signal == 0) continue;
    ++sent;
    for (const Process& process : processes)
      if (!process.has_ended) kill(process.pid, signal);
  }
  return first;
}

}  // namespace

void Launch(const LaunchOptions& options, const Parcel& arguments, const Run& run, Where where) {
  static std::atomic<int64_t> calls{0};
  const int64_t call = calls++;
  if (const std::optional<Started>& started = WhatStarted()) {
    if (call < started->call) return;
    BeRank(*started, run, where);
  }
  if (options.debug_single_process) return run(0, arguments);
  Call of(where);
  const auto or_raise = [](auto result) {
    if (!result.ok()) RaiseHere("launch: {}", Message(result.status()));
    return *std::move(result);
  };
  const int64_t ranks = options.processes > 0 ? options.processes
                                              : int64_t(std::thread::hardware_concurrency());
  const std::shared_ptr<Board> board = or_raise(Board::ForProcesses(ranks));
  const Descriptor carried(memfd_create("xlaprof arguments", MFD_CLOEXEC));
  const std::string& bytes = arguments.bytes();
  if (write(carried.get(), bytes.data(), bytes.size()) != ssize_t(bytes.size()))
    RaiseHere("launch: {} bytes of arguments: {}", bytes.size(), std::strerror(errno));
  std::vector<Process> processes;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    absl::StatusOr<Process> process = Start(*board, carried.get(), rank, call);
    if (!process.ok()) {
      for (const Process& begun : processes) kill(begun.pid, SIGKILL);
      WaitForAll(processes, *board);
      RaiseHere("launch: rank {}: {}", rank, Message(process.status()));
    }
    processes.push_back(*std::move(process));
  }
  if (const std::string failure = WaitForAll(processes, *board); !failure.empty())
    RaiseHere("launch: {}", failure);
}

}  // namespace xlaprof::lazy::internal
