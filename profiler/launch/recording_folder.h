// The directory to which `xlaprof run` records a command.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/temporary_folder.h"
#include "profiler/launch/child.h"

namespace xlaprof {

// The file that says how the command began and ended.
inline constexpr const char* kRunFile = "run.jsonl";
// The report as text. The importer leaves it out, because it only says what the other files say.
inline constexpr const char* kReportFile = "report.txt";

struct RunOptions {
  std::vector<std::string> command;
  std::string folder;  // "": xlaprof-run-N, where N is the first free number
  std::optional<std::pair<int64_t, int64_t>> steps;  // first and last step to profile
  std::optional<double> duration_s;                  // of the profile
  bool is_full = false;                              // dumps with locations, too
};

// Makes the directory and records the command's run to it. What the command's processes write:
//
//   run.jsonl                the command, its start and its end. Each line is a JSON array:
//                            ["run", version, [words of the command], ns since 1970],
//                            ["environment", {variable of a framework: its value}],
//                            ["stderr", bytes in stderr.txt, bytes that it lacks] if there was too much, and
//                            ["end", ns since 1970, exit status, signal or null, CPU ns]
//   process.PID.jsonl        what was recorded of a Python process (hook/xlaprof_hook/record.py)
//   profile.PID...           a profile of some steady steps, in the framework's own format
//   stderr.txt               the first 256 MiB of standard error, if a framework logs its compilations only there
//   recording/               what programs with our recorder recorded
//   report.txt               the report on the other files
//   and the logs and dumps of the frameworks (profiler/launch/hook/xlaprof_hook/recipes.py)
class RecordingFolder {
 public:
  // Returns AlreadyExists if the directory exists and is not empty.
  static absl::StatusOr<RecordingFolder> Make(const RunOptions& options);
  // Runs the command and writes run.jsonl. `path()` then holds all files. If the command cannot be
  // executed, removes the directory if Make made it.
  absl::StatusOr<Ended> Record(const RunOptions& options);
  const std::filesystem::path& path() const { return path_; }

 private:
  RecordingFolder(std::filesystem::path path, bool is_new)
      : path_(std::move(path)), is_new_(is_new) {}
  absl::StatusOr<Ended> Run(const RunOptions& options);

  std::filesystem::path path_;
  bool is_new_;  // Make made the directory
};

}  // namespace xlaprof
