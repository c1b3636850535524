#include "profiler/launch/pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "profiler/launch/secret_files.h"
#include "profiler/launch/tar_writer.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// The end of the name of SQLite's write-ahead log, which a killed process leaves beside its
// database.
constexpr const char* kLogEnd = "-wal";

// The gzipped file to which the archive is written.
class GzipFile {
 public:
  explicit GzipFile(const fs::path& path) : path_(path), file_(gzopen(path.c_str(), "wb")) {}
  ~GzipFile() {
    if (file_ != nullptr) gzclose(file_);
  }
  GzipFile(const GzipFile&) = delete;

  absl::Status Write(std::string_view bytes) {
    if (file_ == nullptr) return Failed();
    constexpr size_t kMost = 1 << 30;
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMost);
      if (gzwrite(file_, part.data(), unsigned(part.size())) != int(part.size())) return Failed();
      bytes.remove_prefix(part.size());
    }
    return absl::OkStatus();
  }
  absl::Status Finish() {
    if (file_ == nullptr) return Failed();
    return gzclose(std::exchange(file_, nullptr)) == Z_OK ? absl::OkStatus() : Failed();
  }

 private:
  absl::Status Failed() const {
    return IoError("{}: cannot be written. Check the disk, and that the folder exists",
                   path_.string());
  }

  const fs::path path_;
  gzFile file_;
};

PackedFile PackedAs(const fs::path& path, const struct stat& info) {
  return {.path = path,
          .device = info.st_dev,
          .inode = info.st_ino,
          .bytes = info.st_size,
          .modified = info.st_mtim};
}

bool IsSame(const PackedFile& file, const struct stat& info) {
  return S_ISREG(info.st_mode) && file.device == info.st_dev && file.inode == info.st_ino &&
         file.bytes == info.st_size && file.modified.tv_sec == info.st_mtim.tv_sec &&
         file.modified.tv_nsec == info.st_mtim.tv_nsec;
}

// Reads a regular file, and says which one it was before it was read. Returns nothing if it is
// something else or cannot be read.
std::optional<PackedFile> Read(const fs::path& path, std::string& bytes) {
  const Descriptor file = OpenToRead(path, O_NOFOLLOW);
  struct stat info {};
  if (!file.is_open() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  bytes.clear();
  bytes.reserve(size_t(info.st_size));
  std::string block(1 << 18, '\0');
  while (true) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return PackedAs(path, info);
    bytes.append(block.data(), size_t(got));
  }
}

// Returns everything below `folder` in the order of its names, without following links. What cannot
// be listed is in `left_out`.
std::vector<fs::path> EntriesBelow(const fs::path& folder, std::vector<fs::path>& left_out) {
  std::vector<fs::path> entries;
  std::vector<fs::path> folders{folder};
  while (!folders.empty()) {
    const fs::path at = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    for (fs::directory_iterator entry(at, error), end; !error && entry != end;
         entry.increment(error)) {
      entries.push_back(entry->path());
      std::error_code no_type;
      if (entry->symlink_status(no_type).type() == fs::file_type::directory)
        folders.push_back(entry->path());
    }
    if (error) left_out.push_back(at);
  }
  std::ranges::sort(entries);
  return entries;
}

bool IsSameFile(const struct stat& info, const struct stat& other) {
  return info.st_dev == other.st_dev && info.st_ino == other.st_ino;
}

}  // namespace

absl::StatusOr<Packed> PackFolder(const fs::path& folder, const fs::path& archive,
                                  const Secrets& secrets) {
  GzipFile out(archive);
  TarWriter tar([&](std::string_view bytes) { return out.Write(bytes); });
  struct stat own {};
  if (stat(archive.c_str(), &own) != 0)
    return IoError("{}: {}", archive.string(), std::strerror(errno));
  Packed packed;
  std::vector<fs::path> merged_logs;  // are a part of their databases in the archive
  std::string bytes;
  for (const fs::path& path : EntriesBelow(folder, packed.left_out)) {
    const std::string name = (folder.filename() / path.lexically_relative(folder)).string();
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0 || IsSameFile(info, own)) continue;
    if (std::ranges::find(merged_logs, path) != merged_logs.end()) continue;
    if (S_ISDIR(info.st_mode)) {
      XP_TRY(tar.AddFolder(name, info.st_mtim.tv_sec));
      packed.folders.push_back(path);
      continue;
    }
    std::optional<PackedFile> file;
    if (S_ISREG(info.st_mode)) file = Read(path, bytes);
    if (!file) {
      packed.left_out.push_back(path);
      continue;
    }
    Masking masking;
    const fs::path log = path.string() + kLogEnd;
    std::string log_bytes;
    std::optional<PackedFile> log_file;
    if (IsDatabase(bytes)) log_file = Read(log, log_bytes);
    if (RemoveFromFile(secrets, path.lexically_relative(folder).string(), bytes, masking,
                       log_bytes)) {
      merged_logs.push_back(log);
      packed.files.push_back(*std::move(log_file));
    }
    packed.secrets += masking.secrets;
    packed.unread.insert(packed.unread.end(), masking.unread.begin(), masking.unread.end());
    XP_TRY(tar.AddFile(name, file->modified.tv_sec, bytes));
    ++packed.members;
    if (!masking.is_lossy) packed.files.push_back(*std::move(file));
  }
  XP_TRY(tar.Finish());
  XP_TRY(out.Finish());
  return packed;
}

std::vector<fs::path> RemovePacked(const fs::path& folder, const Packed& packed) {
  std::vector<fs::path> stay;
  for (const PackedFile& file : packed.files) {
    struct stat info {};
    if (lstat(file.path.c_str(), &info) != 0) continue;
    if (!IsSame(file, info) || unlink(file.path.c_str()) != 0) stay.push_back(file.path);
  }
  for (const fs::path& inner : std::views::reverse(packed.folders)) rmdir(inner.c_str());
  if (rmdir(folder.c_str()) == 0 || errno == ENOENT) return stay;
  const bool is_known = !stay.empty();
  std::vector<fs::path> unlisted;
  for (const fs::path& path : EntriesBelow(folder, unlisted)) {
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(path, error)) &&
        std::ranges::find(stay, path) == stay.end())
      stay.push_back(path);
  }
  if (stay.empty() && !is_known) stay.push_back(folder);
  std::ranges::sort(stay);
  return stay;
}

}  // namespace xlaprof
