// The file that a command writes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/unfinished_file.h"
#include "cli/input_options.h"

namespace xlaprof {

// Says what an output may replace. No other kind of file is ever replaced.
enum class OutputKind : uint8_t {
  kFile,        // a regular file, with --force
  kStore,       // a store of xlaprof, with --force
  kTextReport,  // as kFile; a pipe or a character device gets the text, also if a link leads to it
};

// Keeps what every command promises about its output:
//
// - It is never a file that the command reads, whatever its name: neither one that was named, nor one
//   in a directory, nor what belongs to a store.
// - It replaces an existing file only with --force, and only one that its kind names. A link is not
//   replaced or followed, because what it leads to was not named.
// - It appears, or replaces a file, when it is complete, and not at all if the command fails. A
//   replaced file keeps its owner and its mode.
// - What killed writers of this output left beside it is removed (base/unfinished_file.h).
//
// A command opens its output before it does anything else, so that a wrong name costs no time. Then
// it writes to the file that Begin() returns, and calls Finish(). Minutes or days may lie in
// between.
class Output {
 public:
  struct Options {
    InputOptions input;  // what the command reads
    bool force = false;
    OutputKind kind = OutputKind::kFile;
  };

  // Returns an error if `path` must not be written, or if no file can be created beside it. Leaves
  // no file.
  static absl::StatusOr<Output> Open(std::string path, Options options);

  // The name that the user gave.
  const std::string& name() const { return name_; }
  // Returns the file to write to until Finish(), which it creates when it is called first.
  absl::StatusOr<std::filesystem::path> Begin();
  // Gives the file its name, unless a file that must not be replaced has appeared there.
  absl::Status Finish();
  // Does both, and writes all of `text` in between.
  absl::Status WriteText(std::string_view text);
  // Does both, and copies all of `file` in between.
  absl::Status WriteCopy(const std::filesystem::path& file);

 private:
  enum class Target : uint8_t { kNew, kReplaced, kStream };

  Output(std::string name, Options options)
      : name_(std::move(name)), options_(std::move(options)) {}
  absl::StatusOr<Target> Check();
  absl::Status CheckIsNotRead();

  std::string name_;
  Options options_;
  std::optional<std::vector<std::filesystem::path>> read_;  // the files that the command reads
  std::unique_ptr<UnfinishedFile> unfinished_;
};

// Returns whether `file` lies in `folder`, or in a folder below it, by whatever names. `file` need
// not exist.
bool LiesIn(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace xlaprof
