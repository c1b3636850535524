// The file that a recording process writes its events to (ring.h, docs/formats/ring.md). A
// recording creates it; recovery opens what a killed process left. Internal to profiler/record.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"
#include "profiler/record/ring.h"

namespace xlaprof::record {

inline constexpr char kRingMagic[8] = {'X', 'L', 'P', 'R', 'I', 'N', 'G', '5'};
// The tables are sparse: unused parts take no room on the disk.
inline constexpr size_t kPageBytes = 4096, kStringBytes = size_t(32) << 20, kMaxSites = 1 << 17;
// Texts of arguments leave kNameBytes of the string table free for names. Names made at run time
// leave half of that to names in the program's source. kPlacedSites of the site table are only for
// sites in the source.
inline constexpr size_t kNameBytes = size_t(8) << 20, kPlacedSites = 1 << 15;
inline constexpr uint32_t kMaxSegments = 1024;
// Longer strings are truncated.
inline constexpr size_t kMaxStringBytes = 1 << 16;

// A tick of the clock and the store's time at that moment.
struct Anchor {
  uint64_t ticks = 0;
  int64_t ns = 0;
};

struct SiteEntry {
  uint32_t name, file, function;  // strings
  int32_t line;
  uint8_t category;
  uint8_t unused[3];
  uint32_t label;  // string: the user's category; 0: none
  uint8_t unused_too[8];
};
static_assert(sizeof(SiteEntry) == 32);

struct FileHeader {
  char magic[8];
  uint64_t key[2];  // random; identifies the recording in its store
  int64_t pid, base_epoch_ns;
  uint32_t uses_tsc, levels;  // levels: rings per segment
  std::atomic<uint32_t> segment_count, string_count, site_count;
  std::atomic<uint32_t> string_bytes;
  // Losses that no thread's page counts: events of threads that had no ring, texts for which the
  // tables had no room, and events of forked children.
  std::atomic<uint64_t> ringless_events, lost_texts, forked_events;
  Anchor first;
  // The newest anchor is [anchor_count % 2]; the other one is being written.
  std::atomic<uint32_t> anchor_count;
  Anchor newest[2];
  std::atomic<int64_t> ns_per_tick;  // at the newest anchor, times 2^32; 0: not known yet
  // 1: the recording ended, but could not write to its store, for example because the disk was full.
  std::atomic<uint32_t> is_unwritten;
  // 1: the rest is in the store, and only forked_events is of use.
  std::atomic<uint32_t> only_counts;
};
static_assert(sizeof(FileHeader) <= kPageBytes);
std::string KeyOf(const FileHeader& header);  // in hexadecimal

struct Segment {
  ThreadHeader* header = nullptr;
  Slot* slots = nullptr;  // of all levels

  // Slots that lie in one ring, from a slot's number on.
  struct Stretch {
    Slot* slots = nullptr;  // the ring
    uint64_t mask = 0;
    uint64_t end = 0;  // the number of the first slot behind the stretch
    Slot& operator[](uint64_t number) const { return slots[number & mask]; }
  };
  // Returns the stretch that begins with slot `number`, which was published and not overwritten.
  Stretch From(uint64_t number) const;
};

// Bytes of the header page and the tables, and of a segment with this number of levels.
inline constexpr size_t kTableBytes = kPageBytes + kStringBytes + kMaxSites * sizeof(SiteEntry);
constexpr size_t BytesOfSegment(uint32_t levels) {
  return kPageBytes + SlotsBelow(levels) * sizeof(Slot);
}

class RingFile {
 public:
  // Creates and locks a file with `levels` rings per segment. Replaces a file that a killed
  // process left and whose store is gone. Returns AlreadyExists if that process still runs, and
  // Unavailable or ResourceExhausted if the file cannot be created; nothing is left then.
  static absl::StatusOr<std::unique_ptr<RingFile>> Create(const std::filesystem::path& path,
                                                          uint32_t levels);
  // Opens and locks a file that another process left. Returns FailedPrecondition if that process
  // still runs, and DataLoss if it is not a ring file or is damaged.
  static absl::StatusOr<std::unique_ptr<RingFile>> Open(const std::filesystem::path& path);
  ~RingFile();
  RingFile(const RingFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  FileHeader& header() { return *header_; }
  uint32_t levels() const { return levels_; }  // as the header has it, unless somebody changes that
  std::string Key() const { return KeyOf(*header_); }

  // Adds a segment with disk space reserved for its first ring, a smaller one if the disk is nearly
  // full. One thread at a time may call this; others may read segments() meanwhile.
  absl::StatusOr<Segment> AddSegment();
  // Reserves disk space for a segment's ring of this level. Returns false if there is none. Any
  // thread may call this.
  bool ReserveLevel(uint32_t segment, uint32_t level);
  // Prefaults `slots` slots of the segment's current ring from slot number `from` on: pages that
  // were never touched, and pages that the kernel has written to the disk since. Any thread may call
  // this.
  void Populate(const Segment& segment, uint64_t from, uint64_t slots);
  static constexpr uint32_t kFirstLevel = 4;  // of a new segment, which is 64 KiB
  std::span<const Segment> segments() const {
    return {segments_.get(), segment_count_.load(std::memory_order_acquire)};
  }

  // Adds a string or site and returns its id, or 0 if the table or the disk is full. One thread at
  // a time may call these.
  uint32_t AddString(std::string_view text);
  uint32_t AddSite(const SiteEntry& site);
  // Returns the bytes that a string takes in the table.
  static size_t StringBytes(std::string_view text) { return 4 + (text.size() + 3) / 4 * 4; }
  // Returns an entry; ids begin at 1. A damaged string is "", an unknown site null. Any thread may
  // call these.
  std::string_view String(uint32_t id) const;
  const SiteEntry* Site(uint32_t id) const;

  // Removes the file, wherever it was moved on its file system.
  void Unlink();
  // Removes the file once its events are in the store, which counts `forked` of forked_events. If
  // forked children still run, or have counted more, keeps the header.
  void Finish(uint64_t forked);
  // Locks an open ring for forked children, which count in it. The lock does not concern that of a
  // recording or recovery. It ends with the last descriptor and mapping made from `file`.
  static void Hold(const Descriptor& file);
  // Releases the file and its lock; nothing else of this object may be used afterwards. Scopes that
  // began before may still end, so the segments' memory stays mapped for good, empty.
  void Release();

 private:
  RingFile(std::filesystem::path path, Descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Make(uint32_t levels);
  absl::Status MapTables();
  absl::StatusOr<Segment> MapSegment(uint32_t index);
  absl::Status Reserve(off_t from, off_t bytes);
  bool IsHeld();
  // Returns the file's descriptor, or -1. If the program has closed it, opens the file again,
  // unless another one is at its path. Any thread may call this. The lock of the recording is not
  // lost then, because the mapping of the header keeps it.
  int Fd();
  size_t SegmentBytes() const { return BytesOfSegment(levels_); }

  const std::filesystem::path path_;
  std::mutex opening_;
  Descriptor file_;  // under opening_
  FileHeader* header_ = nullptr;
  uint32_t levels_ = 0;
  char* strings_ = nullptr;
  SiteEntry* sites_ = nullptr;
  size_t reserved_strings_ = 0, reserved_sites_ = 0;  // bytes reserved in the file system
  mutable std::mutex mutex_;
  std::vector<uint32_t> string_at_;  // offset by id - 1; under mutex_
  const std::unique_ptr<Segment[]> segments_ = std::make_unique<Segment[]>(kMaxSegments);
  std::atomic<uint32_t> segment_count_{0};
};

}  // namespace xlaprof::record
