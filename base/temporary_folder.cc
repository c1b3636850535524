#include "base/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

namespace xlaprof {

namespace fs = std::filesystem;

namespace {

// A folder that holds this file belongs to the user, who was told its path.
constexpr const char* kKept = ".kept";
// A younger folder may just have been made, and not be locked yet.
constexpr time_t kYoungS = 60;

// Opens and locks a folder. Returns none if somebody else has locked it, or it cannot be opened.
Descriptor LockFolder(const fs::path& folder) {
  Descriptor opened = OpenToRead(folder, O_DIRECTORY | O_NOFOLLOW);
  return flock(opened.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(opened) : Descriptor();
}

// Removes the folder if the process that made it was killed.
void RemoveFolderIfLeft(const fs::path& folder) {
  const Descriptor locked = LockFolder(folder);
  if (!locked.is_open()) return;
  struct stat status {};
  std::error_code error;
  if (fstat(locked.get(), &status) == 0 && status.st_uid == geteuid() &&
      time(nullptr) - status.st_mtime > kYoungS && !fs::exists(folder / kKept, error))
    fs::remove_all(folder, error);
}

// Removes the folders in `place` that killed processes made for this purpose.
void RemoveFoldersLeft(const fs::path& place, std::string_view purpose) {
  constexpr size_t kRandom = 6;  // characters at the end of the name
  const std::string prefix = fmt::format("xlaprof-{}-", purpose);
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    const std::string name = at->path().filename().string();
    if (name.starts_with(prefix) && name.size() == prefix.size() + kRandom &&
        !at->is_symlink(none) && at->is_directory(none))
      RemoveFolderIfLeft(at->path());
  }
}

}  // namespace

absl::StatusOr<TemporaryFolder> TemporaryFolder::Make(std::string_view purpose) {
  std::error_code error;
  fs::path place = fs::temp_directory_path(error);
  if (error) return IoError("TMPDIR: no folder for temporary files: {}", error.message());
  RemoveFoldersLeft(place, purpose);
  std::string name = (place / fmt::format("xlaprof-{}-XXXXXX", purpose)).string();
  if (mkdtemp(name.data()) == nullptr)
    return IoError("{}: cannot create a folder there: {}. Set TMPDIR to one that can be written",
                   place.string(), std::strerror(errno));
  return TemporaryFolder(name, LockFolder(name));
}

fs::path TemporaryFolder::Keep() {
  leftover_.Forget();
  std::ofstream(path_ / kKept);
  return std::exchange(path_, {});
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace xlaprof
