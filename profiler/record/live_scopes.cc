#include "profiler/record/live_scopes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/descriptor.h"
#include "profiler/record/clock.h"
#include "profiler/record/ring_file.h"

namespace xlaprof {
namespace record {
namespace {

// Reads what a ring file holds at this moment. Nothing in it is trusted.
class LiveRing {
 public:
  explicit LiveRing(const std::filesystem::path& path)
      : path_(path), fd_(OpenToRead(path)) {}

  absl::StatusOr<LiveScopes> Read() {
    XP_TRY(ReadHeader());
    XP_TRY(ReadStrings());
    LiveScopes live{.pid = header().pid, .threads = {}};
    const uint32_t segments = std::min(header().segment_count.load(), kMaxSegments);
    const size_t segment_bytes = BytesOfSegment(header().levels);
    for (uint32_t i = 0; i < segments; ++i) {
      const off_t at = off_t(kTableBytes + segment_bytes * i);
      if (!ReadPage(at)) break;
      OpenThread thread = ThreadOf(*reinterpret_cast<const ThreadHeader*>(page_));
      if (!thread.scopes.empty()) live.threads.push_back(std::move(thread));
    }
    std::ranges::stable_sort(live.threads, {},
                             [&](const OpenThread& thread) { return thread.tid != live.pid; });
    return live;
  }

 private:
  const FileHeader& header() const { return *reinterpret_cast<const FileHeader*>(head_); }

  bool ReadAt(off_t at, void* to, size_t bytes) const {
    return pread(fd_.get(), to, bytes, at) == ssize_t(bytes);
  }

  absl::Status ReadHeader() {
    if (!fd_.is_open()) return IoError("{}: {}", path_.string(), std::strerror(errno));
    if (!ReadAt(0, head_, sizeof head_) ||
        std::memcmp(header().magic, kRingMagic, sizeof kRingMagic) != 0 || header().levels < 1 ||
        header().levels > kMaxLevels)
      return DataLoss("{}: this is not the ring of a recording", path_.string());
    clock_.emplace(header().first, header().ns_per_tick.load());
    knows_rate_ = header().uses_tsc == 0 || header().ns_per_tick.load() > 0;
    newest_ = header().newest[header().anchor_count.load() % 2];
    now_ticks_ = NowTicks(header().uses_tsc != 0);
    // If the machine slept in between, the first anchor is of no use.
    if (clock_->HasJumped(newest_)) {
      clock_.emplace(newest_, header().ns_per_tick.load());
    } else {
      clock_->Add(newest_);
    }
    return absl::OkStatus();
  }

  // Reads the recorded process's clock, which every process of the machine shares.
  static uint64_t NowTicks([[maybe_unused]] bool uses_tsc) {
#ifdef __x86_64__
    if (uses_tsc) return __rdtsc();
#endif
    return uint64_t(ClockNs(CLOCK_MONOTONIC));
  }

  absl::Status ReadStrings() {
    strings_.resize(std::min<size_t>(header().string_bytes.load(), kStringBytes));
    if (!ReadAt(off_t(kPageBytes), strings_.data(), strings_.size()))
      return DataLoss("{}: the file is shorter than its header says", path_.string());
    for (size_t at = 0; at + 4 <= strings_.size();) {
      uint32_t length = 0;
      std::memcpy(&length, strings_.data() + at, sizeof length);
      if (length > kMaxStringBytes || at + 4 + length > strings_.size()) break;
      texts_.emplace_back(strings_.data() + at + 4, length);
      at += 4 + (size_t(length) + 3) / 4 * 4;
    }
    return absl::OkStatus();
  }
  std::string_view String(uint32_t id) const {
    return id == 0 || id > texts_.size() ? std::string_view() : texts_[id - 1];
  }

  // Reads the page of a segment until two readings have the same open scopes, because the thread
  // may be at work meanwhile.
  bool ReadPage(off_t at) {
    constexpr int kMostReadings = 10;
    alignas(ThreadHeader) char before[sizeof(ThreadHeader)];
    if (!ReadAt(at, page_, sizeof page_)) return false;
    for (int i = 0; i < kMostReadings; ++i) {
      std::memcpy(before, page_, sizeof page_);
      if (!ReadAt(at, page_, sizeof page_)) return false;
      constexpr size_t kFrom = offsetof(ThreadHeader, depth);
      if (std::memcmp(before + kFrom, page_ + kFrom, sizeof page_ - kFrom) == 0) break;
    }
    return true;
  }

  OpenThread ThreadOf(const ThreadHeader& thread) {
    OpenThread open;
    constexpr uint32_t kIsFree = 2;
    if (thread.ended.load() == kIsFree || thread.device.load() != 0) return open;
    open.name = String(thread.name.load());
    open.tid = thread.tid.load();
    open.ended = thread.ended.load() != 0;
    const uint32_t depth = std::min<uint32_t>(thread.depth.load(), ThreadHeader::kMaxOpen);
    for (uint32_t i = 0; i < depth; ++i) {
      const ThreadHeader::Opened& one = thread.open[i];
      if (one.begin.load() != 0) open.scopes.push_back(ScopeOf(one));
    }
    return open;
  }

  OpenScope ScopeOf(const ThreadHeader::Opened& opened) {
    OpenScope scope;
    const uint32_t site = opened.site.load();
    const uint32_t id = site & ~ThreadHeader::Opened::kIsStep;
    if (knows_rate_) {
      const int64_t open_ns =
          int64_t(uint64_t(clock_->Ns(now_ticks_)) - uint64_t(clock_->Ns(opened.begin.load())));
      scope.open_ns = std::max<int64_t>(0, open_ns);
    }
    SiteEntry entry{};
    constexpr off_t kSites = off_t(kPageBytes + kStringBytes);
    if (id == 0 || id > kMaxSites ||
        !ReadAt(kSites + off_t(id - 1) * off_t(sizeof entry), &entry, sizeof entry))
      return scope;
    scope.name = String(entry.name);
    // A step of the runtime has no number.
    if ((site & ThreadHeader::Opened::kIsStep) != 0) scope.step = int64_t(opened.step.load());
    if (entry.line > 0) {
      scope.file = String(entry.file);
      scope.line = entry.line;
    }
    return scope;
  }

  const std::filesystem::path path_;
  const Descriptor fd_;
  alignas(FileHeader) char head_[sizeof(FileHeader)] = {};
  alignas(ThreadHeader) char page_[sizeof(ThreadHeader)] = {};
  std::string strings_;
  std::vector<std::string_view> texts_;  // by id - 1
  std::optional<Clock> clock_;
  bool knows_rate_ = false;
  Anchor newest_;
  uint64_t now_ticks_ = 0;
};

}  // namespace
}  // namespace record

absl::StatusOr<LiveScopes> ReadLiveScopes(const std::filesystem::path& ring) {
  return record::LiveRing(ring).Read();
}

}  // namespace xlaprof
