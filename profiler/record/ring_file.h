// The file that a recording process writes its events to (ring.h): made by who records, opened by
// who takes in what a killed process left. docs/formats/ring.md. Internal to profiler/record.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "profiler/record/ring.h"

namespace xlaprof::record {

inline constexpr char kRingMagic[8] = {'X', 'L', 'P', 'R', 'I', 'N', 'G', '3'};
// The tables are sparse: what is not used takes no room.
inline constexpr size_t kPageBytes = 4096, kStringBytes = size_t(32) << 20, kMaxSites = 1 << 17;
// Of the table of strings, for names; and of that of sites, for those that the program's text names
// at their places. What arguments say, and names that are made as it runs, take none of that.
inline constexpr size_t kNameBytes = size_t(8) << 20, kPlacedSites = 1 << 15;
inline constexpr uint32_t kMaxSegments = 1024;
// Longer strings are cut.
inline constexpr size_t kMaxStringBytes = 1 << 16;

// A tick of the clock and the time of the store at that moment.
struct Anchor {
  uint64_t ticks = 0;
  int64_t ns = 0;
};

struct SiteEntry {
  uint32_t name, file, function;  // strings
  int32_t line;
  uint8_t category;
  uint8_t unused[15];
};
static_assert(sizeof(SiteEntry) == 32);

struct FileHeader {
  char magic[8];
  uint64_t key[2];  // random: which recording of the store this is
  int64_t pid, base_epoch_ns;
  uint32_t uses_tsc, capacity;  // slots a segment
  std::atomic<uint32_t> segment_count, string_count, site_count;
  std::atomic<uint32_t> string_bytes;
  // Losses that no thread's page counts: events of threads for which there was no ring, texts for
  // which there was no room in the tables.
  std::atomic<uint64_t> ringless_events, lost_texts;
  Anchor first;
  // The newest is [anchor_count % 2]; the other one is being written.
  std::atomic<uint32_t> anchor_count;
  Anchor newest[2];
  std::atomic<int64_t> ns_per_tick;  // of the newest, times 2^32; 0: not known yet
};
static_assert(sizeof(FileHeader) <= kPageBytes);

struct Segment {
  ThreadHeader* header = nullptr;
  Slot* slots = nullptr;
};

class RingFile {
 public:
  // A new file, locked; `capacity` slots a segment. One that a killed process left there, whose
  // store is gone, is replaced. AlreadyExists: that process still runs. Unavailable or
  // ResourceExhausted: why it cannot be made; nothing is left then.
  static absl::StatusOr<std::unique_ptr<RingFile>> Create(const std::filesystem::path& path,
                                                          uint32_t capacity);
  // One that another process left; locks it. FailedPrecondition: that process still runs.
  // DataLoss: no ring file, or damaged.
  static absl::StatusOr<std::unique_ptr<RingFile>> Open(const std::filesystem::path& path);
  ~RingFile();
  RingFile(const RingFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  FileHeader& header() { return *header_; }
  std::string Key() const;  // hex

  // Adds a segment, its memory there. One thread at a time; others may look at segments()
  // meanwhile.
  absl::StatusOr<Segment> AddSegment();
  // Makes `slots` slots from slot number `from` on ready to be written without a page fault: pages
  // that were never touched, and those that the kernel has written to the disk since. Any thread.
  void Populate(const Segment& segment, uint64_t from, uint64_t slots);
  static constexpr uint64_t kFirstSlots = 8192;  // that a new segment has ready
  std::span<const Segment> segments() const {
    return {segments_.get(), segment_count_.load(std::memory_order_acquire)};
  }

  // Id of the string or site that is added; 0: the table or the disk is full. One thread at a time.
  uint32_t AddString(std::string_view text);
  uint32_t AddSite(const SiteEntry& site);
  // What a string takes of the table.
  static size_t StringBytes(std::string_view text) { return 4 + (text.size() + 3) / 4 * 4; }
  // Entries from 1 on; what is damaged is "". Any thread.
  std::string_view String(uint32_t id) const;
  const SiteEntry* Site(uint32_t id) const;

  void Unlink();
  // Lets the file and its lock go; nothing else of this object may be used then. Scopes that began
  // before may still end: the memory of the segments stays where it is for good, empty.
  void Release();

 private:
  RingFile(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  absl::Status Make(uint32_t capacity);
  absl::Status MapTables();
  absl::StatusOr<Segment> MapSegment(uint32_t index, bool make);
  absl::Status Reserve(off_t from, off_t bytes);
  size_t SegmentBytes() const { return kPageBytes + size_t(header_->capacity) * sizeof(Slot); }
  static constexpr size_t TableBytes() {
    return kPageBytes + kStringBytes + kMaxSites * sizeof(SiteEntry);
  }

  const std::filesystem::path path_;
  int fd_;
  FileHeader* header_ = nullptr;
  char* strings_ = nullptr;
  SiteEntry* sites_ = nullptr;
  size_t reserved_strings_ = 0, reserved_sites_ = 0;  // bytes that the file system has promised
  mutable std::mutex mutex_;
  std::vector<uint32_t> string_at_;  // offset by id - 1; under mutex_
  const std::unique_ptr<Segment[]> segments_ = std::make_unique<Segment[]>(kMaxSegments);
  std::atomic<uint32_t> segment_count_{0};
};

}  // namespace xlaprof::record
