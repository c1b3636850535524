#include "profiler/launch/recording_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock_ns.h"
#include "base/descriptor.h"
#include "profiler/launch/hook_files.h"
#include "profiler/launch/stderr_pipe.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kMostFolders = 100'000;

// Makes the first directory xlaprof-run-N that does not exist. Another process may do so, too.
absl::StatusOr<fs::path> MakeNext() {
  for (int number = 1; number <= kMostFolders; ++number) {
    const fs::path path = fmt::format("xlaprof-run-{}", number);
    if (mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST)
      return IoError("{}: cannot be made: {}. Name another directory with -o", path.string(),
                     std::strerror(errno));
  }
  return absl::AlreadyExistsError("all directories xlaprof-run-N exist. Name another one with -o");
}

absl::StatusOr<fs::path> MakeNamed(const std::string& name) {
  std::error_code error;
  fs::create_directories(name, error);
  if (error) return IoError("{}: cannot be made: {}", name, error.message());
  const bool is_empty = fs::is_empty(name, error);
  if (error) return IoError("{}: cannot be read: {}", name, error.message());
  if (!is_empty)
    return absl::AlreadyExistsError(fmt::format(
        "{}: is not empty. Name a new directory with -o, because its files would be read as of one run",
        name));
  return fs::path(name);
}

// Returns what the Python hook reads as XLAPROF_RUN_OPTIONS.
std::string HookOptions(const RunOptions& options) {
  Json json{{"full", options.is_full}};
  if (options.steps) json["steps"] = {options.steps->first, options.steps->second + 1};
  if (options.duration_s) json["duration_s"] = *options.duration_s;
  return json.dump();
}

// Returns `name`=`first` before the value that the variable has.
std::pair<std::string, std::string> Prepended(const char* name, const std::string& first) {
  const char* before = std::getenv(name);
  return {name, before == nullptr || *before == '\0' ? first : first + ":" + before};
}

// Returns the environment variables that frameworks read.
Json FrameworkVariables() {
  constexpr std::array<std::string_view, 11> kPrefixes{"XLA_",  "PT_XLA_", "PJRT_",  "TF_",
                                                       "TPU_",  "LIBTPU_", "JAX_",   "TORCH",
                                                       "CUDA_", "NEURON_", "PT_HPU_"};
  Json variables = Json::object();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos &&
        std::ranges::any_of(kPrefixes, [&](auto prefix) { return text.starts_with(prefix); }))
      variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return variables;
}

// The file run.jsonl, which says how the command began and ended. The command does not inherit it.
class RunFile {
 public:
  explicit RunFile(fs::path path)
      : path_(std::move(path)),
        file_(Descriptor::Open(path_, O_WRONLY | O_CREAT | O_TRUNC, 0666)) {}

  absl::Status Add(const Json& line) {
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t written = write(file_.get(), rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0)
        return IoError("{}: cannot be written: {}", path_.string(), std::strerror(errno));
      rest.remove_prefix(size_t(written));
    }
    return absl::OkStatus();
  }

 private:
  const fs::path path_;
  const Descriptor file_;
};

}  // namespace

absl::StatusOr<RecordingFolder> RecordingFolder::Make(const RunOptions& options) {
  std::error_code error;
  const bool is_new = options.folder.empty() || !fs::exists(options.folder, error);
  XP_TRY(fs::path path, options.folder.empty() ? MakeNext() : MakeNamed(options.folder));
  RecordingFolder folder(fs::absolute(path, error), is_new);
  if (error) return IoError("{}: {}", path.string(), error.message());
  return folder;
}

absl::StatusOr<Ended> RecordingFolder::Record(const RunOptions& options) {
  absl::StatusOr<Ended> ended = Run(options);
  if (!ended.ok()) {
    std::error_code error;
    fs::remove(path_ / kRunFile, error);
    if (is_new_) fs::remove(path_, error);
  }
  return ended;
}

absl::StatusOr<Ended> RecordingFolder::Run(const RunOptions& options) {
  XP_TRY(const TemporaryFolder hook, TemporaryFolder::Make("hook"));
  XP_TRY(WriteHookFiles(hook.path()));
  XP_TRY(StderrPipe pipe, StderrPipe::Make(path_));
  Command command{.words = options.command,
                  .environment = {{"XLAPROF_RUN", path_.string()},
                                  {"XLAPROF_RUN_OPTIONS", HookOptions(options)},
                                  Prepended("PYTHONPATH", hook.path().string())}};
  if (std::getenv("XLAPROF_RECORD") == nullptr)
    command.environment.emplace_back("XLAPROF_RECORD", (path_ / "").string());
  RunFile file(path_ / kRunFile);
  XP_TRY(file.Add({"run", 1, options.command, ClockNs(CLOCK_REALTIME)}));
  XP_TRY(file.Add({"environment", FrameworkVariables()}));
  XP_TRY(const Ended ended, RunCommand(command));
  if (const int64_t left_out = pipe.Await(); left_out > 0)
    XP_TRY(file.Add({"stderr", StderrPipe::kMostBytes, left_out}));
  XP_TRY(file.Add({"end", ClockNs(CLOCK_REALTIME), ended.exit_status,
                   ended.signal == 0 ? Json() : Json(ended.signal), ended.cpu_ns}));
  return ended;
}

}  // namespace xlaprof
