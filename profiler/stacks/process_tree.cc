#include "profiler/stacks/process_tree.h"

#include <absl/strings/str_split.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "base/numbers.h"

namespace xlaprof::stacks {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 1 << 20;  // read of one file of /proc

std::string Content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

// Returns the value of a line such as "Uid:\t0\t0\t0\t0" of /proc/PID/status.
std::string_view ValueOf(std::string_view status, std::string_view key) {
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(status.data(), status.size()), '\n')) {
    std::string_view text(line.data(), line.size());
    if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != ':') continue;
    text.remove_prefix(key.size() + 1);
    while (!text.empty() && (text.front() == '\t' || text.front() == ' ')) text.remove_prefix(1);
    return text;
  }
  return {};
}

int64_t FirstNumber(std::string_view text, int64_t otherwise) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return ParseCount(text.substr(0, end)).value_or(otherwise);
}
int64_t LastNumber(std::string_view text, int64_t otherwise) {
  const size_t at = text.find_last_not_of("0123456789");
  return ParseCount(text.substr(at == text.npos ? 0 : at + 1)).value_or(otherwise);
}

struct Stat {
  char state = '?';
  int64_t parent = 0;
};
// Reads /proc/PID/stat, whose second field is a name in parentheses that may hold anything.
std::optional<Stat> ReadStat(const fs::path& folder) {
  const std::string text = Content(folder / "stat");
  const size_t name_end = text.rfind(')');
  if (name_end == text.npos || name_end + 4 > text.size()) return {};
  return Stat{text[name_end + 2], FirstNumber(std::string_view(text).substr(name_end + 4), 0)};
}

// Reads what the process was started with. The environment can be read only by its user.
void ReadStart(const fs::path& folder, ProcessInfo& process) {
  const std::string arguments = Content(folder / "cmdline");
  const std::vector<std::string> words = absl::StrSplit(arguments, '\0', absl::SkipEmpty());
  for (const std::string& word : words)
    process.command += (process.command.empty() ? "" : " ") + word;
  if (process.command.empty()) {  // a kernel thread, or a process that has ended
    std::string name = Content(folder / "comm");
    while (!name.empty() && name.back() == '\n') name.pop_back();
    process.command = fmt::format("[{}]", name);
  }
  if (!words.empty() && words[0].find('/') != std::string::npos)
    process.environment_bins.push_back(fs::path(words[0]).parent_path());
  const std::string environment = Content(folder / "environ");
  std::map<std::string, std::string> values;
  for (const absl::string_view entry : absl::StrSplit(environment, '\0', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(entry, absl::MaxSplits('=', 1));
    if (parts.size() == 2) values.emplace(parts[0], parts[1]);
  }
  auto first_of = [&](std::initializer_list<const char*> names) -> OptInt {
    for (const char* name : names) {
      if (auto value = values.find(name); value != values.end()) {
        if (const auto number = ParseCount(value->second)) return *number;
      }
    }
    return {};
  };
  process.rank =
      first_of({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"});
  process.local_rank = first_of({"LOCAL_RANK", "PJRT_LOCAL_PROCESS_RANK",
                                 "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"});
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (auto value = values.find(name); value != values.end())
      process.environment_bins.push_back(fs::path(value->second) / "bin");
  }
}

bool RunsPython(const fs::path& folder) {
  std::error_code error;
  const std::string program = fs::read_symlink(folder / "exe", error).filename().string();
  if (!error && (program.starts_with("python") || program.starts_with("pypy"))) return true;
  return Content(folder / "maps").find("/libpython") != std::string::npos;
}

std::optional<ProcessInfo> ReadProcess(int64_t pid, const fs::path& proc) {
  const fs::path folder = proc / fmt::to_string(pid);
  const std::optional<Stat> stat = ReadStat(folder);
  if (!stat) return {};
  ProcessInfo process{.pid = pid, .parent = stat->parent, .state = stat->state};
  const std::string status = Content(folder / "status");
  process.uid = FirstNumber(ValueOf(status, "Uid"), -1);
  process.own_pid = LastNumber(ValueOf(status, "NSpid"), pid);
  process.tracer_pid = FirstNumber(ValueOf(status, "TracerPid"), 0);
  process.runs_python = RunsPython(folder);
  ReadStart(folder, process);
  return process;
}

}  // namespace

absl::StatusOr<std::vector<ProcessInfo>> ProcessTree(int64_t pid, const fs::path& proc) {
  const std::string status = Content(proc / fmt::to_string(pid) / "status");
  const int64_t leader = FirstNumber(ValueOf(status, "Tgid"), pid);
  std::multimap<int64_t, int64_t> children;
  std::error_code error;
  for (fs::directory_iterator at(proc, error), end; !error && at != end; at.increment(error)) {
    const auto number = ParseCount(at->path().filename().string());
    if (!number || *number == getpid()) continue;  // this program is no part of what it looks at
    if (const auto stat = ReadStat(at->path())) children.emplace(stat->parent, *number);
  }
  std::vector<ProcessInfo> tree;
  auto add = [&](auto&& self, int64_t one, int depth) -> void {
    constexpr int kDeepest = 64;
    std::optional<ProcessInfo> process = ReadProcess(one, proc);
    if (!process) return;  // it has ended meanwhile
    process->depth = depth;
    tree.push_back(*std::move(process));
    if (depth == kDeepest) return;
    std::vector<int64_t> below;
    const auto [from, to] = children.equal_range(one);
    for (auto child = from; child != to; ++child) below.push_back(child->second);
    std::ranges::sort(below);
    for (const int64_t child : below) self(self, child, depth + 1);
  };
  add(add, leader, 0);
  if (tree.empty())
    return NotFound("{}: no such process. `ps -ef` lists those that run, with their ids", pid);
  return tree;
}

std::vector<fs::path> RingsOf(int64_t pid, const fs::path& proc) {
  std::vector<fs::path> rings;
  std::error_code error, none;
  for (fs::directory_iterator at(proc / fmt::to_string(pid) / "fd", error), end;
       !error && at != end; at.increment(error)) {
    const std::string target = fs::read_symlink(at->path(), none).string();
    if (target.ends_with(".ring") || target.ends_with(".ring (deleted)"))
      rings.push_back(at->path());
  }
  return rings;
}

std::string_view StateText(char state) {
  switch (state) {
    case 'R':
      return "runs";
    case 'S':
    case 'I':
      return "sleeps";
    case 'D':
      return "waits for a device";
    case 'T':
      return "is stopped";
    case 't':
      return "is being debugged";
    case 'Z':
    case 'X':
      return "has ended";
    default:
      return "?";
  }
}

}  // namespace xlaprof::stacks
