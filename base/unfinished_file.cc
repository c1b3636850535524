#include "base/unfinished_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/file_system.h"
#include "base/sqlite_files.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashDigits = 16;
constexpr std::string_view kSuffix = ".part";
constexpr int kMostTries = 100;
constexpr mode_t kPermissions = 0777;
// SQLite locks bytes near 2^30 of its files. A lock on this byte alone is independent of them, also
// on a file system that makes one kind of lock of all (NFS).
constexpr off_t kLockedByte = off_t{1} << 62;

fs::path NameBeside(const fs::path& output) {
  // Processes in different containers may have the same process id.
  static const uint64_t process = [] {
    std::random_device random;
    return uint64_t(random()) << 32 | random();
  }();
  static std::atomic<int64_t> files{0};
  return output.parent_path() /
         fmt::format(".{}.{:016x}.{}{}", output.filename().string(), process, ++files, kSuffix);
}

// Returns whether NameBeside names unfinished files of `output` like this.
bool IsNameBeside(std::string_view name, const std::string& output) {
  const std::string prefix = fmt::format(".{}.", output);
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(prefix.size());
  if (name.size() <= kHashDigits + 1 + kSuffix.size() || name[kHashDigits] != '.') return false;
  const std::string_view hash = name.substr(0, kHashDigits);
  name.remove_prefix(kHashDigits + 1);
  name.remove_suffix(kSuffix.size());
  return hash.find_first_not_of("0123456789abcdef") == hash.npos &&
         name.find_first_not_of("0123456789") == name.npos;
}

// Locks a file until its last descriptor is closed. On failure, errno is EAGAIN if somebody else
// has locked it.
bool Lock(int file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockedByte;
  lock.l_len = 1;
  if (fcntl(file, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EACCES) errno = EAGAIN;
  return false;
}

// Returns whether `path` is still a name of the open file.
bool IsNameOf(const fs::path& path, int file) {
  struct stat named {
  }, opened{};
  return lstat(path.c_str(), &named) == 0 && fstat(file, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

void RemoveSqliteFiles(const fs::path& path) {
  std::error_code error;
  for (const char* suffix : kSqliteSuffixes) fs::remove(path.string() + suffix, error);
}

// Removes an unfinished file unless its writer lives. A writer that has just created it and has not
// locked it yet then takes another name.
void RemoveFileIfLeft(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file.is_open() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      !Lock(file.get()) || !IsNameOf(path, file.get()))
    return;
  if (unlink(path.c_str()) == 0) RemoveSqliteFiles(path);
}

void RemoveFilesLeft(const fs::path& output) {
  if (FileSystemOf(output) != FileSystem::kLocal) return;
  const std::string name = output.filename().string();
  const fs::path folder = output.has_parent_path() ? output.parent_path() : ".";
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (IsNameBeside(at->path().filename().native(), name)) RemoveFileIfLeft(at->path());
  }
}

}  // namespace

absl::StatusOr<UnfinishedFile> UnfinishedFile::Create(fs::path output) {
  RemoveFilesLeft(output);
  for (int tries = 0; tries < kMostTries; ++tries) {
    UnfinishedFile file(output, NameBeside(output));
    const absl::Status begun = file.Begin();
    if (begun.ok()) return file;
    if (!absl::IsAlreadyExists(begun)) return begun;
  }
  return IoError("{}: cannot be created: other programs remove its unfinished files",
                 output.string());
}

// Returns AlreadyExists if another writer has taken the name or removes the file as a leftover.
absl::Status UnfinishedFile::Begin() {
  locked_ = Descriptor(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!locked_.is_open()) {
    const int error = errno;
    leftover_.Forget();
    path_.clear();
    if (error == EEXIST) return absl::AlreadyExistsError("");
    return IoError("{}: cannot be created: {}. Check that its directory exists and is writable",
                   output_.string(), std::strerror(error));
  }
  // Some file systems have no locks. There, nobody removes what is left.
  const bool is_taken = !Lock(locked_.get()) && errno == EAGAIN;
  if (is_taken || !IsNameOf(path_, locked_.get())) return absl::AlreadyExistsError("");
  struct stat own {
  }, replaced{};
  if (fstat(locked_.get(), &own) != 0) return Failed(errno);
  mode_ = own.st_mode & kPermissions;
  XP_TRY(const bool exists, LookAtOutput(replaced));
  if (exists && S_ISREG(replaced.st_mode)) TakeModeOf(replaced);
  // The writer opens the file by its name, also under a umask that denies that.
  if (fstat(locked_.get(), &own) == 0 && (own.st_mode & 0600) != 0600)
    fchmod(locked_.get(), (own.st_mode & kPermissions) | 0600);
  return absl::OkStatus();
}

// Returns whether the output exists. Returns an error if it is a directory, a pipe or a device.
absl::StatusOr<bool> UnfinishedFile::LookAtOutput(struct stat& info) const {
  if (lstat(output_.c_str(), &info) != 0) return false;
  if (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode)) return true;
  return Invalid("{}: exists and is not a regular file. Choose another name", output_.string());
}

UnfinishedFile::~UnfinishedFile() {
  if (path_.empty()) return;
  std::error_code error;
  fs::remove(path_, error);
  RemoveSqliteFiles(path_);
}

// The owner can be kept only by root, and the group only by its members. A group that the file did
// not belong to gets no more rights than everybody.
void UnfinishedFile::TakeModeOf(const struct stat& replaced) const {
  mode_t mode = replaced.st_mode & kPermissions;
  struct stat own {};
  if (fstat(locked_.get(), &own) != 0) return;
  const bool is_owned = own.st_uid == replaced.st_uid && own.st_gid == replaced.st_gid;
  if (!is_owned && fchown(locked_.get(), replaced.st_uid, replaced.st_gid) != 0 &&
      fchown(locked_.get(), uid_t(-1), replaced.st_gid) != 0)
    mode = (mode & ~mode_t{070}) | (mode & ((mode & 07) << 3));
  fchmod(locked_.get(), mode);
}

absl::Status UnfinishedFile::Failed(int error) const {
  return IoError("{}: cannot write: {}", output_.string(), std::strerror(error));
}

absl::Status UnfinishedFile::Finish() {
  struct stat replaced {};
  XP_TRY(const bool exists, LookAtOutput(replaced));
  if (exists && S_ISREG(replaced.st_mode)) {
    TakeModeOf(replaced);
    // The old contents must not be lost before the new ones are on the disk.
    if (fdatasync(locked_.get()) != 0 && errno != EINVAL) return Failed(errno);
  } else {
    fchmod(locked_.get(), mode_);
  }
  if (rename(path_.c_str(), output_.c_str()) != 0) return Failed(errno);
  leftover_.Forget();
  path_.clear();
  locked_ = Descriptor();
  return absl::OkStatus();
}

absl::Status UnfinishedFile::FinishNew() {
  fchmod(locked_.get(), mode_);
  int failed = renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, output_.c_str(), RENAME_NOREPLACE);
  if (failed != 0 && errno != EEXIST) {
    // Not every file system knows this flag.
    failed = link(path_.c_str(), output_.c_str());
    if (failed == 0) unlink(path_.c_str());
  }
  const bool exists = failed != 0 && errno == EEXIST;
  struct stat info {};
  if (exists || (failed != 0 && lstat(output_.c_str(), &info) == 0))
    return absl::AlreadyExistsError(fmt::format("{}: already exists", output_.string()));
  if (failed != 0) return Finish();  // nor hard links
  leftover_.Forget();
  path_.clear();
  locked_ = Descriptor();
  return absl::OkStatus();
}

}  // namespace xlaprof
