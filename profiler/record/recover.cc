// Recovers what a killed process left in its ring: everything that it had completed, exactly once.
#include "profiler/record/recover.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/base/temporary_folder.h"
#include "profiler/record/collector.h"
#include "profiler/record/marked_steps.h"

namespace xlaprof {

std::filesystem::path RingPath(const std::filesystem::path& store) {
  return store.string() + ".ring";
}

namespace record {

// Adds an issue for damage in a ring. What comes before the damage is taken.
static absl::Status TellDamage(Store& store, int64_t process_id, const absl::Status& damage) {
  XP_TRY(auto source,
         store.One<int64_t>("SELECT source_id FROM process WHERE id = ?1", process_id));
  return store.AddIssue(
      source, "damaged_ring", Severity::kWarning,
      fmt::format("{}. Everything that its thread recorded from there on is lost.",
                  std::string_view(Message(damage))));
}

// Adds an issue because a lazy runtime's facts are not in the ring.
static absl::Status TellFacts(Store& store, int64_t process_id) {
  XP_TRY(auto facts,
         store.One<int64_t>("SELECT count(*) FROM execution WHERE process_id = ?1", process_id));
  if (facts.value_or(0) == 0) return absl::OkStatus();
  XP_TRY(auto source,
         store.One<int64_t>("SELECT source_id FROM process WHERE id = ?1", process_id));
  return store.AddIssue(
      source, "last_facts", Severity::kInfo,
      "The process was killed. Compiles, executions, transfers and steps of its last tenth of a second may be missing. Its events are not affected.");
}

namespace {

// A read-only file, closed with the object.
struct OpenFile {
  // Opens `path` without blocking, because opening a pipe would wait for a writer.
  explicit OpenFile(const std::filesystem::path& path)
      : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
  const int fd;
};

// Returns the size of a ring's tables and segments, as its header gives it. Returns DataLoss if it
// is not a ring.
absl::StatusOr<off_t> BytesOfRing(int fd, const std::filesystem::path& path) {
  alignas(FileHeader) char head[sizeof(FileHeader)] = {};
  const auto& header = *reinterpret_cast<const FileHeader*>(head);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      pread(fd, head, sizeof head, 0) != ssize_t(sizeof head) ||
      std::memcmp(header.magic, kRingMagic, sizeof kRingMagic) != 0 ||
      header.segment_count.load() > kMaxSegments)
    return DataLoss("{}: this is not the ring of a recording. Move it away", path.string());
  const off_t tables = kPageBytes + kStringBytes + kMaxSites * sizeof(SiteEntry);
  const off_t segment = kPageBytes + off_t(header.capacity) * off_t(sizeof(Slot));
  return std::min(info.st_size, tables + segment * off_t(header.segment_count.load()));
}

// Copies the bytes of `from` between `at` and `end`, except parts that are all zeros.
absl::Status CopyPart(int from, off_t at, off_t end, int to) {
  std::vector<char> buffer(size_t(1) << 16);
  const std::vector<char> zeros(buffer.size());
  while (at < end) {
    const size_t want = size_t(std::min(end - at, off_t(buffer.size())));
    const ssize_t got = pread(from, buffer.data(), want, at);
    if (got == 0) break;
    if (got < 0 || (std::memcmp(buffer.data(), zeros.data(), size_t(got)) != 0 &&
                    pwrite(to, buffer.data(), size_t(got), at) != got))
      return IoError("{}", std::strerror(errno));
    at += got;
  }
  return absl::OkStatus();
}

// Copies the first `bytes` of a ring. Most of it is holes that take no room, and they remain holes.
absl::Status CopySparse(int from, off_t bytes, const std::filesystem::path& path) {
  const int to = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (to < 0) return IoError("{}", std::strerror(errno));
  absl::Status status =
      ftruncate(to, bytes) == 0 ? absl::OkStatus() : IoError("{}", std::strerror(errno));
  for (off_t at = 0; status.ok() && at < bytes;) {
    const off_t begin = lseek(from, at, SEEK_DATA);
    if (begin < 0 || begin >= bytes) break;  // only holes follow
    const off_t end = std::min(bytes, std::max(begin + 1, lseek(from, begin, SEEK_HOLE)));
    status = CopyPart(from, begin, end, to);
    at = end;
  }
  if (close(to) != 0 && status.ok()) status = IoError("{}", std::strerror(errno));
  return status;
}

}  // namespace
}  // namespace record

absl::StatusOr<std::optional<Store>> ReadKilled(const std::filesystem::path& path) {
  const record::OpenFile ring(RingPath(path));
  if (ring.fd < 0 || flock(ring.fd, LOCK_SH | LOCK_NB) != 0) return std::nullopt;
  flock(ring.fd, LOCK_UN);
  XP_TRY(TemporaryFolder folder, TemporaryFolder::Make("killed"));
  const std::filesystem::path copy = folder.path() / "killed.xlaprof";
  {
    XP_TRY(Store store, Store::Open(path));
    XP_TRY(auto open, store.One<int64_t>("SELECT count(*) FROM recording WHERE ended = 0"));
    if (open.value_or(0) == 0) return std::nullopt;
    XP_TRY(store.Run("VACUUM INTO ?1", copy.string()));
  }
  XP_TRY(const off_t bytes, record::BytesOfRing(ring.fd, RingPath(path)));
  if (absl::Status copied = record::CopySparse(ring.fd, bytes, RingPath(copy)); !copied.ok()) {
    return IoError("{}: cannot copy it to {}: {}. Free space there, or set TMPDIR",
                   RingPath(path).string(), folder.path().string(),
                   std::string_view(Message(copied)));
  }
  XP_TRY(RecoverRecording(copy));
  XP_TRY(Store whole, Store::Open(copy));  // stays readable after its folder is deleted
  return whole;
}

absl::StatusOr<int64_t> RecoverRecording(const std::filesystem::path& path) {
  using namespace record;
  std::error_code error;
  if (!std::filesystem::exists(RingPath(path), error)) return 0;
  XP_TRY(std::unique_ptr<RingFile> file, RingFile::Open(RingPath(path)));
  XP_TRY(Store store, Store::OpenForWriting(path));
  struct Found {
    int64_t id = 0, process_id = 0;
    bool ended = false;
  } found;
  XP_TRY(store.Each(
      "SELECT id, process_id, ended FROM recording WHERE ring_key = ?1",
      [&](int64_t id, int64_t process_id, bool ended) { found = {id, process_id, ended}; },
      file->Key()));
  if (found.id == 0) {
    return Invalid("{}: this ring belongs to another recording than {}. Move it away",
                   file->path().string(), path.string());
  }
  int64_t taken = 0;
  if (!found.ended) {
    const FileHeader& header = file->header();
    const Anchor newest = header.newest[header.anchor_count.load() % 2];  // the other: half written
    const int64_t ns_per_tick = header.ns_per_tick.load();
    Clock clock(header.first, ns_per_tick);
    // If the machine slept in between, the first anchor is of no use, because what is left came
    // after it.
    if (clock.HasJumped(newest)) {
      clock = Clock(newest, ns_per_tick);
    } else {
      clock.Add(newest);
    }
    Collector collector(store, *file, clock, found.id, found.process_id);
    XP_TRY(collector.Restore());
    const int64_t before = collector.events();
    XP_TRY(store.Begin());
    collector.LookForOpen();
    for (uint32_t i = 0; i < file->segments().size(); ++i) {
      while (true) {
        auto slots = collector.Take(i, EventWriter::kChunkEvents);
        if (absl::IsDataLoss(slots.status())) {
          XP_TRY(TellDamage(store, found.process_id, slots.status()));
          break;
        }
        XP_TRY(slots.status());
        if (*slots == 0) break;
        XP_TRY(collector.Write());
      }
    }
    XP_TRY(collector.TakeOpen());
    XP_TRY(collector.Write());
    XP_TRY(UniteSteps(store, found.process_id));
    XP_TRY(TellFacts(store, found.process_id));
    XP_TRY(store.Run("UPDATE recording SET ended = 1 WHERE id = ?1", found.id));
    XP_TRY(store.Commit());
    taken = collector.events() - before;
  }
  XP_TRY(store.CloseLog());
  file->Unlink();
  return taken;
}

}  // namespace xlaprof
