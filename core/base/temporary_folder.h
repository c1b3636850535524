// A folder for files on the way.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/leftover.h"
#include "core/base/status.h"

namespace xlaprof {

// In TMPDIR; only this user can look into it, and it is gone, with what is in it, with the object,
// unless it is kept.
class TemporaryFolder {
 public:
  // Its name begins with "xlaprof-" and `purpose`.
  static absl::StatusOr<TemporaryFolder> Make(std::string_view purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), leftover_(std::move(other.leftover_)) {}
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }
  // Leaves it where it is: the path.
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
