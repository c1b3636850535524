// A folder for temporary files.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/leftover.h"
#include "core/base/status.h"

namespace xlaprof {

// A folder in TMPDIR that only this user can look into. Destroying the object removes the folder
// and what is in it, unless the folder is kept.
class TemporaryFolder {
 public:
  // Makes a folder whose name begins with "xlaprof-" and `purpose`.
  static absl::StatusOr<TemporaryFolder> Make(std::string_view purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), leftover_(std::move(other.leftover_)) {}
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }
  // Leaves the folder in place and returns its path.
  std::filesystem::path Keep() {
    leftover_.Forget();
    return std::exchange(path_, {});
  }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)), leftover_(path_) {}
  std::filesystem::path path_;
  Leftover leftover_;
};

}  // namespace xlaprof
