#include "profiler/record/dead_rings.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/descriptor.h"
#include "base/sqlite_files.h"
#include "profiler/record/mapped_path.h"
#include "profiler/record/recover.h"
#include "profiler/record/ring_file.h"

namespace xlaprof::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic(kRingMagic, sizeof kRingMagic - 1);  // of any version
constexpr std::string_view kRingSuffix = ".xlaprof.ring";

class File {
 public:
  // A symbolic link is not opened.
  explicit File(const fs::path& path) : fd_(OpenToRead(path, O_NOFOLLOW)) {
    char head[kMagic.size()];
    got_ = pread(fd_.get(), head, sizeof head, 0);
    if (got_ > 0) head_.assign(head, size_t(got_));
  }
  // Returns whether the file is a ring. A recording process locks its file before it writes this
  // magic.
  bool IsRing() const { return head_ == kMagic; }
  bool IsUnwritten() const { return got_ >= 0 && head_ == std::string(head_.size(), '\0'); }
  bool Lock() { return flock(fd_.get(), LOCK_EX | LOCK_NB) == 0; }
  bool Remove(const fs::path& path) { return RemoveFile(path, fd_.identity()); }

 private:
  const Descriptor fd_;
  ssize_t got_ = 0;
  std::string head_;
};

}  // namespace

absl::Status RemoveDeadRing(const fs::path& path) {
  File file(path);
  if (!file.IsRing() && !file.IsUnwritten()) {
    return absl::AlreadyExistsError(fmt::format(
        "{}: exists and is not the ring of a recording. Move it away, or record elsewhere",
        path.string()));
  }
  if (!file.Lock()) {
    return absl::AlreadyExistsError(fmt::format(
        "{}: a process still records to it, though its store was removed. End it first, or record "
        "elsewhere",
        path.string()));
  }
  if (!file.Remove(path)) {
    return IoError("{}: belongs to a killed recording and cannot be removed: {}. Record elsewhere",
                   path.string(), std::strerror(errno));
  }
  return absl::OkStatus();
}

void RemoveDeadRecordings(const fs::path& folder, std::string_view prefix) {
  std::error_code error;
  std::vector<std::string> stores;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string path = at->path().string();
    if (at->path().filename().string().starts_with(prefix) && path.ends_with(kRingSuffix))
      stores.push_back(path.substr(0, path.rfind('.')));
  }
  for (const std::string& store : stores) {
    File ring(RingPath(store));
    if (!ring.IsRing() || !ring.Lock()) continue;
    fs::remove(store, error);
    for (const char* suffix : kSqliteSuffixes) fs::remove(store + suffix, error);
    ring.Remove(RingPath(store));
  }
}

bool IsMappedHere(const fs::path& path) { return !MappedPath(IdentityOf(path)).empty(); }

}  // namespace xlaprof::record
