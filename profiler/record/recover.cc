// Recovers what a process left in its ring: everything that it had completed if it was killed, and
// the count of events that its forked children lost, exactly once.
#include "profiler/record/recover.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/descriptor.h"
#include "base/temporary_folder.h"
#include "profiler/record/collector.h"
#include "profiler/record/forked.h"
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
static absl::Status TellFacts(Store& store, int64_t process_id, bool was_killed) {
  XP_TRY(auto facts,
         store.One<int64_t>("SELECT count(*) FROM execution WHERE process_id = ?1", process_id));
  if (facts.value_or(0) == 0) return absl::OkStatus();
  XP_TRY(auto source,
         store.One<int64_t>("SELECT source_id FROM process WHERE id = ?1", process_id));
  return store.AddIssue(
      source, "last_facts", Severity::kInfo,
      fmt::format(
          "{}. Compiles, executions, transfers and steps of its last moments may be missing. Its events are not affected.",
          was_killed
              ? "The process was killed"
              : "The store could not be written when the recording ended, for example because the disk was full"));
}

namespace {

// Finds the recording with this ring. Its id is 0 if the store has none.
struct Found {
  int64_t id = 0, process_id = 0, source_id = 0;
  bool ended = false;
  int64_t forked = 0;  // events of forked children that the store counts
};
absl::StatusOr<Found> FindRecording(const Store& store, const std::string& ring_key) {
  Found found;
  XP_TRY(store.Each(
      "SELECT r.id, p.id, p.source_id, r.ended, coalesce((SELECT sum(count) FROM import_issue i "
      "WHERE i.source_id = p.source_id AND code = ?2), 0) FROM recording r JOIN process p ON p.id = "
      "r.process_id WHERE ring_key = ?1",
      [&](int64_t id, int64_t process_id, int64_t source_id, bool ended, int64_t forked) {
        found = {id, process_id, source_id, ended, forked};
      },
      ring_key, kForkedEvents));
  return found;
}

// Reads `bytes` at `at`, or as many as there are.
absl::Status ReadAt(int fd, off_t at, void* to, size_t bytes) {
  const ssize_t got = pread(fd, to, bytes, at);
  return got < 0 ? IoError("{}", std::strerror(errno)) : absl::OkStatus();
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

// Copies the slots of a segment that may not be in the store yet, with the segment's header.
absl::Status CopySegment(int from, off_t at, uint32_t levels, int to) {
  alignas(ThreadHeader) char page[sizeof(ThreadHeader)] = {};
  const auto& header = *reinterpret_cast<const ThreadHeader*>(page);
  XP_TRY(ReadAt(from, at, page, sizeof page));
  XP_TRY(CopyPart(from, at, at + off_t(kPageBytes), to));
  const uint32_t last = header.level.load();
  if (last >= levels) return absl::OkStatus();  // opening the copy reports the damage
  const uint64_t head = header.head.load(), tail = header.tail.load();
  for (uint32_t level = std::min(header.first_level, last); level <= last; ++level) {
    const uint64_t used_from = level == header.first_level ? 0 : header.used_from[level].load();
    const uint64_t begin = std::max(head, used_from);
    const uint64_t end = level == last ? tail : std::min(tail, header.used_from[level + 1].load());
    if (begin >= end) continue;
    const uint64_t slots = SlotsAt(level), first = begin & (slots - 1);
    const uint64_t count = std::min(end - begin, slots);
    const auto copy = [&](uint64_t one, uint64_t behind) {
      const off_t ring = at + off_t(kPageBytes + SlotsBelow(level) * sizeof(Slot));
      return CopyPart(from, ring + off_t(one * sizeof(Slot)), ring + off_t(behind * sizeof(Slot)),
                      to);
    };
    XP_TRY(copy(first, std::min(first + count, slots)));
    if (first + count > slots) XP_TRY(copy(0, first + count - slots));
  }
  return absl::OkStatus();
}

// Copies what recovery reads of a ring: its tables, and the slots that wait. The rest, which may be
// most of the file, remains a hole.
absl::Status CopyRing(int from, const FileHeader& header, off_t bytes, int to) {
  if (ftruncate(to, bytes) != 0) return IoError("{}", std::strerror(errno));
  const size_t strings = std::min<size_t>(header.string_bytes.load(), kStringBytes);
  const size_t sites = std::min<size_t>(header.site_count.load(), kMaxSites);
  XP_TRY(CopyPart(from, 0, off_t(kPageBytes + strings), to));
  constexpr off_t kSites = off_t(kPageBytes + kStringBytes);
  XP_TRY(CopyPart(from, kSites, kSites + off_t(sites * sizeof(SiteEntry)), to));
  const auto segment = off_t(BytesOfSegment(header.levels));
  for (off_t at = off_t(kTableBytes); at + segment <= bytes; at += segment)
    XP_TRY(CopySegment(from, at, header.levels, to));
  return absl::OkStatus();
}

// Returns whether the ring of a recording that has ended counts events that the store does not.
absl::StatusOr<bool> HasLateCount(const Store& store, int ring) {
  alignas(FileHeader) char head[sizeof(FileHeader)] = {};
  const auto& header = *reinterpret_cast<const FileHeader*>(head);
  if (!ReadAt(ring, 0, head, sizeof head).ok()) return false;  // a pipe, for example
  XP_TRY(const Found found, FindRecording(store, KeyOf(header)));
  return found.id != 0 && header.forked_events > uint64_t(found.forked);
}

// Copies a ring to a new file. Returns DataLoss if it is not a ring.
absl::Status CopyRing(int from, const std::filesystem::path& path,
                      const std::filesystem::path& copy) {
  alignas(FileHeader) char head[sizeof(FileHeader)] = {};
  const auto& header = *reinterpret_cast<const FileHeader*>(head);
  struct stat info{};
  if (fstat(from, &info) != 0 || !S_ISREG(info.st_mode) ||
      !ReadAt(from, 0, head, sizeof head).ok() ||
      std::memcmp(header.magic, kRingMagic, sizeof kRingMagic) != 0 ||
      header.segment_count.load() > kMaxSegments || header.levels < 1 || header.levels > kMaxLevels)
    return DataLoss("{}: this is not the ring of a recording. Move it away", path.string());
  const auto bytes = std::min<off_t>(
      info.st_size,
      off_t(kTableBytes + BytesOfSegment(header.levels) * header.segment_count.load()));
  const Descriptor to = Descriptor::Open(copy, O_WRONLY | O_CREAT | O_EXCL, 0600);
  absl::Status status =
      !to.is_open() ? IoError("{}", std::strerror(errno)) : CopyRing(from, header, bytes, to.get());
  if (status.ok()) return status;
  return IoError("{}: cannot copy it to {}: {}. Free space there, or set TMPDIR", path.string(),
                 copy.parent_path().string(), std::string_view(Message(status)));
}

}  // namespace
}  // namespace record

absl::StatusOr<std::optional<Store>> ReadKilled(const std::filesystem::path& path) {
  const Descriptor ring = OpenToRead(RingPath(path));
  if (!ring.is_open() || flock(ring.get(), LOCK_SH | LOCK_NB) != 0) return std::nullopt;
  flock(ring.get(), LOCK_UN);
  XP_TRY(TemporaryFolder folder, TemporaryFolder::Make("killed"));
  const std::filesystem::path copy = folder.path() / "killed.xlaprof";
  {
    XP_TRY(Store store, Store::Open(path));
    XP_TRY(auto open, store.One<int64_t>("SELECT count(*) FROM recording WHERE ended = 0"));
    if (open.value_or(0) == 0) {
      XP_TRY(const bool is_late, record::HasLateCount(store, ring.get()));
      if (!is_late) return std::nullopt;
    }
    XP_TRY(store.Run("VACUUM INTO ?1", copy.string()));
  }
  XP_TRY(record::CopyRing(ring.get(), RingPath(path), RingPath(copy)));
  XP_TRY(RecoverRecording(copy));
  XP_TRY(Store whole, Store::Open(copy));  // stays readable after its folder is deleted
  return whole;
}

absl::StatusOr<Recovered> RecoverRecording(const std::filesystem::path& path) {
  using namespace record;
  Recovered recovered;
  std::error_code error;
  if (!std::filesystem::exists(RingPath(path), error)) return recovered;
  XP_TRY(std::unique_ptr<RingFile> file, RingFile::Open(RingPath(path)));
  XP_TRY(Store store, Store::OpenForWriting(path));
  XP_TRY(const Found found, FindRecording(store, file->Key()));
  if (found.id == 0) {
    return Invalid("{}: this ring belongs to another recording than {}. Move it away",
                   file->path().string(), path.string());
  }
  const FileHeader& header = file->header();
  const uint64_t forked = header.forked_events;
  if (forked > uint64_t(found.forked)) {
    recovered.forked = int64_t(forked - uint64_t(found.forked));
    XP_TRY(store.AddIssue(found.source_id, kForkedEvents, Severity::kWarning, kForkedEventsAdvice,
                          {}, {}, recovered.forked));
  }
  if (!found.ended) {
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
    const bool was_killed = header.is_unwritten.load() == 0;
    XP_TRY(collector.TakeOpen(was_killed ? OptInt(newest.ns) : OptInt()));
    XP_TRY(collector.Write());
    XP_TRY(UniteSteps(store, found.process_id));
    XP_TRY(TellFacts(store, found.process_id, was_killed));
    XP_TRY(store.SetMeta("recording_end", was_killed ? "killed" : "unwritten"));
    XP_TRY(store.Run("UPDATE recording SET ended = 1 WHERE id = ?1", found.id));
    XP_TRY(store.Commit());
    recovered.events = collector.events() - before;
  }
  XP_TRY(store.CloseLog());
  file->Finish(forked);
  return recovered;
}

}  // namespace xlaprof
