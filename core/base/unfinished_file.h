// A file beside the output that becomes the output only when it is whole, and is gone otherwise.
// Its name is no other's, of whatever process, machine or container that shares the folder.
#pragma once

#include <filesystem>

#include "core/base/leftover.h"
#include "core/base/status.h"

namespace xlaprof {

class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::filesystem::path output);
  // Removes the file, and what SQLite may have left beside it.
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  // Where to write meanwhile.
  const std::filesystem::path& path() const { return path_; }
  // Renames it to the output, which is replaced if it is there.
  absl::Status Finish();

 private:
  const std::filesystem::path output_, path_;
  Leftover leftover_;
};

}  // namespace xlaprof
