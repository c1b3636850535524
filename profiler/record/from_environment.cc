// Records and reports as XLAPROF_RECORD and XLAPROF_REPORT say, without a change of the program.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "profiler/record/own_streams.h"
#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "profiler/record/start_at.h"

extern char** environ;

namespace xlaprof::record {
namespace {

const char place_of_library = 0;  // an address in this library

// Waits for the end of `child`. Returns whether its program could be started. A parent that ignores
// its children's ends, or reaps them all itself, leaves us no status; the report was printed then,
// too.
bool HasRun(pid_t child) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (ended < 0) return errno == ECHILD;
  return WIFEXITED(status) && WEXITSTATUS(status) != 127;
}

// Returns the program that was installed with the file at `path`, which is this library or this
// process's program: beside it, or in folder bin of its prefix. Returns "" if there is none.
std::string ProgramInstalledWith(const std::filesystem::path& path) {
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::canonical(path, none).parent_path();
  if (none) return "";
  // Some systems put libraries into lib/x86_64-linux-gnu. Python's package is in
  // lib/python3/site-packages/xlaprof.
  for (const char* place :
       {"xlaprof", "../bin/xlaprof", "../../bin/xlaprof", "../../../../bin/xlaprof"}) {
    const std::filesystem::path program = (folder / place).lexically_normal();
    if (std::filesystem::is_regular_file(program, none) && access(program.c_str(), X_OK) == 0)
      return program;
  }
  return "";
}

// Returns the program that prints the report. Without a slash in it, the system's PATH has it.
std::string Program() {
  if (const char* program = std::getenv("XLAPROF_PROGRAM")) return program;
  // In a program that contains the recorder, the library's file is the program's.
  Dl_info library{};
  if (dladdr(&place_of_library, &library) != 0 && library.dli_fname != nullptr)
    if (std::string program = ProgramInstalledWith(library.dli_fname); !program.empty())
      return program;
  std::string program = ProgramInstalledWith("/proc/self/exe");
  return program.empty() ? "xlaprof" : program;
}

// Runs `xlaprof report PATH` without recording that process.
void Report(const std::filesystem::path& path) {
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("XLAPROF_RECORD=") && !text.starts_with("XLAPROF_REPORT="))
      environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  std::string words[] = {Program(), "report", path.string()};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  std::fflush(nullptr);
  if (!IsSameStream(STDOUT_FILENO)) {
    Tell(
        "the report is not printed, because the program has closed or replaced its standard output");
    return;
  }
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  if (!IsSameStream(STDERR_FILENO))
    posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], &streams, nullptr, arguments, environment.data()) != 0 ||
      !HasRun(child)) {
    Tell(fmt::format(
        "cannot run `{} report {}`. Install it beside this program, put it on PATH, or name it in XLAPROF_PROGRAM",
        arguments[0], arguments[2]));
  }
  posix_spawn_file_actions_destroy(&streams);
}

class FromEnvironment {
 public:
  FromEnvironment() {
    const char* path = std::getenv("XLAPROF_RECORD");
    const char* report = std::getenv("XLAPROF_REPORT");
    report_ = report != nullptr && *report != 0 && std::strcmp(report, "0") != 0;
    if ((path == nullptr || *path == 0) && !report_) return;
    keep_ = path != nullptr && *path != 0;
    auto started = keep_ ? StartAt(path) : StartTemporary();
    if (!started.ok()) {
      Tell(fmt::format("nothing is recorded: {}", std::string_view(Message(started.status()))));
      return;
    }
    pid_ = getpid();
    path_ = std::move(started->path);
    recording_.emplace(std::move(started->recording));
  }
  ~FromEnvironment() {
    if (!recording_ || getpid() != pid_) return;  // this is a forked child that ends
    auto stats = recording_->Stop();
    if (!stats.ok()) {
      Tell(Message(stats.status()));
      return;
    }
    if (report_) Report(path_);
    if (keep_) {
      if (stats->forked > 0)
        Tell(fmt::format(
            "{} events of forked processes are not recorded. XLAPROF_RECORD=DIR/ gives each process a file of its own",
            stats->forked));
      Tell(fmt::format("{}: {} event{} of {} thread{}, {} dropped", path_.string(), stats->events,
                       stats->events == 1 ? "" : "s", stats->threads,
                       stats->threads == 1 ? "" : "s", stats->dropped));
    } else {
      std::error_code error;
      std::filesystem::remove(path_, error);
      std::filesystem::remove(RingPath(path_), error);  // a forked child may still count in it
    }
  }

 private:
  std::filesystem::path path_;
  bool report_ = false, keep_ = false;
  pid_t pid_ = 0;
  std::optional<Recording> recording_;
};

}  // namespace

bool StartFromEnvironment() {
  static FromEnvironment from_environment;
  return true;
}

}  // namespace xlaprof::record
