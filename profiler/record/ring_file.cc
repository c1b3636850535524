#include "profiler/record/ring_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profiler/record/dead_rings.h"
#include "profiler/record/mapped_path.h"
#include "profiler/record/size_limit.h"
#include "profiler/record/truncation.h"

namespace xlaprof::record {
namespace {

constexpr size_t kReserveBytes = size_t(64) << 10;
constexpr uint32_t kSmallLevels = 8;  // rings of these levels are smaller than 1 MiB

absl::Status Failed(const std::filesystem::path& path, std::string_view what, int error) {
  return IoError("{}: {}: {}. Check the folder and its free space, or record elsewhere",
                 path.string(), what, std::strerror(error));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RingFile>> RingFile::Create(const std::filesystem::path& path,
                                                           uint32_t levels) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL;
  Descriptor opened = Descriptor::Open(path, kFlags, 0600);
  if (!opened.is_open() && errno == EEXIST) {
    XP_TRY(RemoveDeadRing(path));
    opened = Descriptor::Open(path, kFlags, 0600);
  }
  if (!opened.is_open()) return Failed(path, "cannot make the ring of the recording", errno);
  std::unique_ptr<RingFile> file(new RingFile(path, std::move(opened)));
  if (absl::Status made = file->Make(levels); !made.ok()) {
    file->Unlink();
    return made;
  }
  return file;
}

absl::Status RingFile::Make(uint32_t levels) {
  if (flock(Fd(), LOCK_EX | LOCK_NB) != 0) return Failed(path_, "cannot lock", errno);
  XP_TRY(CheckSizeLimit(path_, off_t(kTableBytes)));
  if (ftruncate(Fd(), off_t(kTableBytes)) != 0) return Failed(path_, "cannot grow", errno);
  XP_TRY(Reserve(0, kPageBytes));
  XP_TRY(MapTables());
  std::memcpy(header_->magic, kRingMagic, sizeof kRingMagic);
  if (getrandom(header_->key, sizeof header_->key, 0) != sizeof header_->key)
    return Failed(path_, "the kernel returned no random numbers", errno);
  header_->pid = getpid();
  header_->levels = levels_ = levels;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RingFile>> RingFile::Open(const std::filesystem::path& path) {
  Descriptor opened = Descriptor::Open(path, O_RDWR);
  if (!opened.is_open()) return Failed(path, "cannot open", errno);
  std::unique_ptr<RingFile> file(new RingFile(path, std::move(opened)));
  const int fd = file->Fd();
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("{}: this recording is still running. End it first", path.string()));
  }
  struct stat info{};
  fstat(fd, &info);
  auto damaged = [&] {
    return DataLoss(
        "{}: not the ring of a recording, or cut at byte {}. Copy it again; or remove it, and the store "
        "stays as it is",
        path.string(), info.st_size);
  };
  if (size_t(info.st_size) < kTableBytes) return damaged();
  XP_TRY(file->MapTables());
  const FileHeader& header = *file->header_;
  const uint32_t count = header.segment_count.load();
  if (std::memcmp(header.magic, kRingMagic, sizeof kRingMagic) != 0 || count > kMaxSegments ||
      header.levels < 1 || header.levels > kMaxLevels ||
      (size_t(info.st_size) - kTableBytes) / BytesOfSegment(header.levels) < count)
    return damaged();
  file->levels_ = header.levels;
  uint32_t at = 0;
  const uint32_t bytes = std::min<uint32_t>(header.string_bytes.load(), kStringBytes);
  for (uint32_t i = 0; i < header.string_count.load() && bytes - at >= 4; ++i) {
    uint32_t size = 0;
    std::memcpy(&size, file->strings_ + at, 4);
    if (size > bytes - at - 4) break;
    file->string_at_.push_back(at);
    at += std::min(4 + (size + 3) / 4 * 4, bytes - at);
  }
  for (uint32_t i = 0; i < count; ++i) {
    XP_TRY(Segment segment, file->MapSegment(i));
    const uint32_t level = segment.header->level.load();
    if (level >= file->levels_ || segment.header->first_level > level) return damaged();
    file->segments_[i] = segment;
    file->segment_count_ = i + 1;
  }
  return file;
}

RingFile::~RingFile() {
  if (header_ != nullptr) {
    for (const Segment& segment : segments()) {
      UnguardMapping(segment.header);
      munmap(segment.header, SegmentBytes());
    }
    UnguardMapping(header_);
    munmap(header_, kTableBytes);
  }
}

int RingFile::Fd() {
  std::lock_guard lock(opening_);
  int fd = file_.get();
  if (fd < 0 && file_.is_open()) {
    Descriptor again = Descriptor::Open(path_, O_RDWR | O_NOFOLLOW);
    if (again.identity() == file_.identity()) file_ = std::move(again);
    fd = file_.get();
  }
  return fd;
}

absl::Status RingFile::MapTables() {
  void* map = mmap(nullptr, kTableBytes, PROT_READ | PROT_WRITE, MAP_SHARED, Fd(), 0);
  if (map == MAP_FAILED) return Failed(path_, "cannot map", errno);
  madvise(map, kTableBytes, MADV_RANDOM);  // see MapSegment
  GuardMapping(map, kTableBytes);
  header_ = static_cast<FileHeader*>(map);
  strings_ = static_cast<char*>(map) + kPageBytes;
  sites_ = reinterpret_cast<SiteEntry*>(strings_ + kStringBytes);
  return absl::OkStatus();
}

// Reserves disk space. Without it a full disk would raise a signal at the first write.
absl::Status RingFile::Reserve(off_t from, off_t bytes) {
  const int error = posix_fallocate(Fd(), from, bytes);
  return error == 0 ? absl::OkStatus() : Failed(path_, "no room", error);
}

absl::StatusOr<Segment> RingFile::MapSegment(uint32_t index) {
  const size_t bytes = SegmentBytes();
  const off_t at = off_t(kTableBytes + index * bytes);
  void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, Fd(), at);
  if (map == MAP_FAILED) return Failed(path_, "cannot map", errno);
  // Without this, the first page fault would read megabytes of the hole ahead. Large rings are for
  // busy threads, for which larger pages are worth that time.
  madvise(map, std::min(bytes, BytesOfSegment(kSmallLevels)), MADV_RANDOM);
  GuardMapping(map, bytes);
  return Segment{static_cast<ThreadHeader*>(map),
                 reinterpret_cast<Slot*>(static_cast<char*>(map) + kPageBytes)};
}

absl::StatusOr<Segment> RingFile::AddSegment() {
  const uint32_t count = segment_count_.load(std::memory_order_relaxed);
  if (count == kMaxSegments)
    return absl::ResourceExhaustedError(
        fmt::format("more than {} threads record at the same time", kMaxSegments));
  const off_t at = off_t(kTableBytes + count * SegmentBytes());
  const off_t end = at + off_t(SegmentBytes());
  XP_TRY(CheckSizeLimit(path_, end));
  // The file gets the segment's full size, but only the first ring takes room on the disk.
  if (ftruncate(Fd(), end) != 0) return Failed(path_, "cannot grow", errno);
  XP_TRY(Reserve(at, kPageBytes));
  uint32_t level = std::min(kFirstLevel, levels_ - 1);
  while (!ReserveLevel(count, level)) {
    if (level == 0) return Failed(path_, "no room", ENOSPC);
    --level;
  }
  XP_TRY(Segment segment, MapSegment(count));
  segment.header->number = count;
  segment.header->first_level = level;
  segment.header->level = level;
  Populate(segment, 0, SlotsAt(level));
  segments_[count] = segment;
  segment_count_.store(count + 1, std::memory_order_release);
  header_->segment_count.store(count + 1, std::memory_order_release);
  return segment;
}

bool RingFile::ReserveLevel(uint32_t segment, uint32_t level) {
  const size_t at = kTableBytes + segment * SegmentBytes() + kPageBytes;
  return Reserve(off_t(at + SlotsBelow(level) * sizeof(Slot)), off_t(SlotsAt(level) * sizeof(Slot)))
      .ok();
}

Segment::Stretch Segment::From(uint64_t number) const {
  uint32_t level = header->level.load(std::memory_order_acquire);
  uint64_t end = UINT64_MAX;
  for (; level > header->first_level; --level) {
    const uint64_t from = header->used_from[level].load(std::memory_order_relaxed);
    if (number >= from) break;
    end = from;
  }
  return {slots + SlotsBelow(level), SlotsAt(level) - 1, end};
}

void RingFile::Populate(const Segment& segment, uint64_t from, uint64_t slots) {
#ifdef MADV_POPULATE_WRITE  // since Linux 5.14; without it, writers take the page faults
  const uint32_t level = segment.header->level.load(std::memory_order_relaxed);
  const uint64_t capacity = SlotsAt(level);
  while (slots > 0) {
    const uint64_t at = from & (capacity - 1), count = std::min(slots, capacity - at);
    auto* begin = reinterpret_cast<char*>(segment.slots + SlotsBelow(level) + at);
    const size_t before = at * sizeof(Slot) % kPageBytes;
    madvise(begin - before, count * sizeof(Slot) + before, MADV_POPULATE_WRITE);
    from += count, slots -= count;
  }
#else
  (void)segment, (void)from, (void)slots;
#endif
}

uint32_t RingFile::AddString(std::string_view text) {
  std::lock_guard lock(mutex_);
  text = text.substr(0, kMaxStringBytes);
  const size_t at = header_->string_bytes.load(std::memory_order_relaxed);
  const size_t end = at + StringBytes(text);
  if (end > kStringBytes) return 0;
  while (reserved_strings_ < end) {
    if (!Reserve(off_t(kPageBytes + reserved_strings_), kReserveBytes).ok()) return 0;
    reserved_strings_ += kReserveBytes;
  }
  const uint32_t size = uint32_t(text.size());
  std::memcpy(strings_ + at, &size, 4);
  if (size > 0) std::memcpy(strings_ + at + 4, text.data(), size);
  string_at_.push_back(uint32_t(at));
  header_->string_bytes.store(uint32_t(end), std::memory_order_release);
  header_->string_count.store(uint32_t(string_at_.size()), std::memory_order_release);
  return uint32_t(string_at_.size());
}

uint32_t RingFile::AddSite(const SiteEntry& site) {
  const uint32_t count = header_->site_count.load(std::memory_order_relaxed);
  if (count == kMaxSites) return 0;
  const size_t end = (count + 1) * sizeof site;
  while (reserved_sites_ < end) {
    if (!Reserve(off_t(kPageBytes + kStringBytes + reserved_sites_), kReserveBytes).ok()) return 0;
    reserved_sites_ += kReserveBytes;
  }
  sites_[count] = site;
  header_->site_count.store(count + 1, std::memory_order_release);
  return count + 1;
}

std::string_view RingFile::String(uint32_t id) const {
  std::lock_guard lock(mutex_);
  if (id == 0 || id > string_at_.size()) return {};
  const uint32_t at = string_at_[id - 1];
  uint32_t size = 0;
  std::memcpy(&size, strings_ + at, 4);
  return size <= kStringBytes - at - 4 ? std::string_view(strings_ + at + 4, size)
                                       : std::string_view();
}

const SiteEntry* RingFile::Site(uint32_t id) const {
  const uint32_t count =
      std::min<uint32_t>(header_->site_count.load(std::memory_order_acquire), kMaxSites);
  return id == 0 || id > count ? nullptr : &sites_[id - 1];
}

std::string KeyOf(const FileHeader& header) {
  return fmt::format("{:016x}{:016x}", header.key[0], header.key[1]);
}

void RingFile::Unlink() {
  const FileIdentity identity = file_.identity();
  if (RemoveFile(path_, identity)) return;
  RemoveFile(MappedPath(identity), identity);  // its folder may have been moved
}

void RingFile::Finish(uint64_t forked) {
  const int fd = Fd();
  // The lock is looked at first, because a child that no longer holds it counts no more.
  if (!IsHeld() && header_->forked_events == forked) Unlink();
  header_->segment_count = header_->string_count = header_->string_bytes = header_->site_count = 0;
  header_->only_counts = 1;
  // Frees the disk, because a removed file takes its room as long as a child has the header mapped.
  // The file keeps its size, because threads may still write to mappings of it.
  struct stat info{};
  if (fstat(fd, &info) == 0 && info.st_size > off_t(kPageBytes))
    (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(kPageBytes),
                    info.st_size - off_t(kPageBytes));
}

void RingFile::Hold(const Descriptor& file) {
  struct flock lock{.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
  (void)fcntl(file.get(), F_OFD_SETLK, &lock);
}

bool RingFile::IsHeld() {
  struct flock lock{.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
  return fcntl(Fd(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void RingFile::Release() {
  const size_t bytes = SegmentBytes();
  for (const Segment& segment : segments()) {
    UnguardMapping(segment.header);
    mmap(segment.header, bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  }
  UnguardMapping(header_);
  munmap(std::exchange(header_, nullptr), kTableBytes);
  file_ = Descriptor();
}

}  // namespace xlaprof::record
