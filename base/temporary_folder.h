// A folder for temporary files.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/leftover.h"
#include "base/status.h"

namespace xlaprof {

// A folder in TMPDIR that only this user can look into. Destroying the object removes the folder
// and what is in it, unless the folder is kept. The process locks its folder, so that others can
// tell folders that killed processes left.
class TemporaryFolder {
 public:
  // Makes a folder whose name begins with "xlaprof-" and `purpose`. Removes those that killed
  // processes of this user left, which had the same purpose.
  static absl::StatusOr<TemporaryFolder> Make(std::string_view purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        lock_(std::move(other.lock_)),
        leftover_(std::move(other.leftover_)) {}
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }
  // Leaves the folder in place for good, and returns its path.
  std::filesystem::path Keep();

 private:
  TemporaryFolder(std::filesystem::path path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)), leftover_(path_) {}
  std::filesystem::path path_;
  Descriptor lock_;  // of the folder, which is locked
  Leftover leftover_;
};

}  // namespace xlaprof
