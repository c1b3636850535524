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

// Says what an output may replace, and how it is written.
enum class OutputKind : uint8_t {
  kFile,        // replaces a regular file with --force
  kStore,       // replaces a store of xlaprof with --force
  kReport,      // replaces a regular file, in a directory that is read only with --force
  kTextReport,  // the same; is also written to what a link, a pipe or a device stands for
};

// Keeps what every command promises about its output:
//
// - It is never a file that the command reads, whatever its name: neither one that was named, nor one
//   in a directory, nor what belongs to a store.
// - Only those existing files are replaced that its kind names.
// - It appears, or replaces another file, when it is complete, and not at all if the command fails.
// - A text report that replaces a file keeps its mode.
class Output {
 public:
  struct Options {
    InputOptions input;  // what the command reads
    bool force = false;
    OutputKind kind = OutputKind::kFile;
  };

  // Returns an error if `path` must not be replaced. Creates nothing.
  static absl::StatusOr<Output> Open(const std::string& path, Options options);

  // The name that the user gave.
  const std::string& name() const { return output_; }
  // The file to write to until Finish().
  const std::filesystem::path& path() const { return unfinished_->path(); }
  // Gives the file its name, unless a file that must not be replaced has appeared there.
  absl::Status Finish();
  // Writes a whole text report instead.
  absl::Status WriteText(std::string_view text);

 private:
  explicit Output(std::string path, Options options);
  absl::Status Check();
  absl::Status CheckIsNotRead();

  std::string output_;
  Options options_;
  std::optional<std::vector<std::filesystem::path>> read_;  // the files that the command reads
  std::unique_ptr<UnfinishedFile> unfinished_;
};

// Checks that a file can be created in the directory of `path`, by creating one.
absl::Status CheckWritable(const std::filesystem::path& path);

}  // namespace xlaprof
