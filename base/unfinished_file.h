// A file beside the output that becomes the output when it is complete, and is removed otherwise.
// Its name differs from those of all processes, machines and containers that share the folder.
#pragma once

#include <filesystem>

#include "base/leftover.h"
#include "base/status.h"

namespace xlaprof {

class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::filesystem::path output);
  // Removes the file and what SQLite may have left beside it.
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  // The file to write to until Finish().
  const std::filesystem::path& path() const { return path_; }
  // Renames the file to the output, which is replaced if it exists.
  absl::Status Finish();

 private:
  const std::filesystem::path output_, path_;
  Leftover leftover_;
};

}  // namespace xlaprof
