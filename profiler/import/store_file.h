// A store as a file that SQLite can open, also if it was packed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/temporary_folder.h"

namespace xlaprof {

class StoreFile {
 public:
  // Returns the file `path` itself if `bytes` are what it holds, because the last commits are in
  // the log file beside it. The bytes of a member of an archive, or of a compressed file, are
  // written to a temporary file, which is removed with this object.
  static absl::StatusOr<StoreFile> Of(const std::string& path, std::string_view bytes);

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit StoreFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  std::optional<TemporaryFolder> unpacked_;
};

}  // namespace xlaprof
