// What a killed process left in its ring: everything that it had completed, exactly once.
#include "profiler/record/recover.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/temporary_folder.h"
#include "profiler/record/collector.h"

namespace xlaprof {

std::filesystem::path RingPath(const std::filesystem::path& store) {
  return store.string() + ".ring";
}

namespace record {

// What comes before the damage is taken.
static absl::Status TellDamage(Store& store, int64_t process_id, const absl::Status& damage) {
  XP_TRY(auto source,
         store.One<int64_t>("SELECT source_id FROM process WHERE id = ?1", process_id));
  return store.AddIssue(source, "damaged_ring", "warning",
                        fmt::format("{}: what its thread recorded from there on is lost",
                                    std::string_view(Message(damage))));
}

// Facts of a lazy runtime are not in the ring.
static absl::Status TellFacts(Store& store, int64_t process_id) {
  XP_TRY(auto facts,
         store.One<int64_t>("SELECT count(*) FROM execution WHERE process_id = ?1", process_id));
  if (facts.value_or(0) == 0) return absl::OkStatus();
  XP_TRY(auto source,
         store.One<int64_t>("SELECT source_id FROM process WHERE id = ?1", process_id));
  return store.AddIssue(source, "last_facts", "info",
                        "the process was killed: compiles, executions, transfers and steps of its "
                        "last tenth of a second may be missing, though not its events");
}

}  // namespace record

absl::StatusOr<std::optional<Store>> ReadKilled(const std::filesystem::path& path) {
  const int ring = open(RingPath(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (ring < 0) return std::nullopt;
  const bool runs = flock(ring, LOCK_SH | LOCK_NB) != 0;
  close(ring);
  if (runs) return std::nullopt;
  XP_TRY(TemporaryFolder folder, TemporaryFolder::Make("killed"));
  const std::filesystem::path copy = folder.path() / "killed.xlaprof";
  {
    XP_TRY(Store store, Store::Open(path));
    XP_TRY(auto open, store.One<int64_t>("SELECT count(*) FROM recording WHERE ended = 0"));
    if (open.value_or(0) == 0) return std::nullopt;
    XP_TRY(store.Run("VACUUM INTO ?1", copy.string()));
  }
  std::error_code error;
  std::filesystem::copy_file(RingPath(path), RingPath(copy), error);
  if (error) {
    return IoError("{}: cannot copy it to {}: {}. Make room there, or set TMPDIR",
                   RingPath(path).string(), folder.path().string(), error.message());
  }
  XP_TRY(RecoverRecording(copy));
  XP_TRY(Store whole, Store::Open(copy));  // stays when its folder is gone
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
      [&](int64_t id, int64_t process_id, bool ended) {
        found = {id, process_id, ended};
      },
      file->Key()));
  if (found.id == 0) {
    return Invalid("{}: the ring of another recording than that of {}. Move it away",
                   file->path().string(), path.string());
  }
  int64_t taken = 0;
  if (!found.ended) {
    const FileHeader& header = file->header();
    const Anchor newest = header.newest[header.anchor_count.load() % 2];  // the other: half written
    const int64_t ns_per_tick = header.ns_per_tick.load();
    Clock clock(header.first, ns_per_tick);
    // Where the machine slept in between, the first is of no use: what is left came after it.
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
