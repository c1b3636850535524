// From ticks of the recorder's clock to the store's time. The processor's time stamp counter where
// it runs at one rate for all cores, else CLOCK_MONOTONIC. Internal to profiler/record.
#pragma once

#include <optional>
#include <vector>

#include "profiler/record/ring_file.h"

namespace xlaprof::record {

// The counter's rate is told by nobody: both clocks are read together again and again, and between
// two such anchors time runs evenly. So an hour drifts by what one reading is off, some tens of ns.
class Clock {
 public:
  // Whether this processor's counter serves: CPUID's "invariant TSC".
  static bool HasInvariantTsc();
  // Both clocks now; `origin_ns` is CLOCK_MONOTONIC at the store's time 0.
  static Anchor ReadAnchor(int64_t origin_ns);

  explicit Clock(Anchor first) : anchors_{first}, newest_{.from = first}, line_(newest_) {}

  // Where the rate is known from elsewhere; 0: it is not.
  Clock(Anchor first, int64_t ns_per_tick) : Clock(first) {
    if (ns_per_tick > 0) newest_.ns_per_tick = line_.ns_per_tick = ns_per_tick;
    knows_rate_ = ns_per_tick > 0;
  }

  // Later than all before; those closer than kClosestNs to the last are not kept. While a machine
  // sleeps CLOCK_MONOTONIC stands; the counter may run on, or begin anew: Add sees it, and what was
  // before keeps its times.
  void Add(Anchor anchor);
  // Whether the two clocks have parted since the last anchor: the next one should come at once.
  bool HasJumped(Anchor now) const;
  // Times 2^32; 0: not known yet.
  int64_t ns_per_tick() const { return knows_rate_ ? newest_.ns_per_tick : 0; }
  // Ticks before the first or behind the last anchor run on as the nearest two do.
  int64_t Ns(uint64_t ticks) {
    if (ticks - line_.from.ticks >= line_ticks_) [[unlikely]]
      FindLine(ticks);
    return line_.At(ticks);
  }

  static constexpr int64_t kClosestNs = 1'000'000;
  static constexpr int64_t kJumpNs = 20'000'000;

 private:
  struct Line {
    Anchor from;
    int64_t ns_per_tick = int64_t(1) << 32;  // times 2^32
    int64_t At(uint64_t ticks) const {
      __extension__ using Wide = __int128;
      return from.ns + int64_t(Wide(int64_t(ticks - from.ticks)) * ns_per_tick >> 32);
    }
    uint64_t TicksOf(int64_t ns) const {
      __extension__ using Wide = unsigned __int128;
      return uint64_t((Wide(uint64_t(ns)) << 32) / uint64_t(ns_per_tick));
    }
  };
  static Line Between(Anchor a, Anchor b);
  void FindLine(uint64_t ticks);
  void AddJump(Anchor anchor);
  void BeginAnew(Anchor anchor);

  std::vector<Anchor> anchors_;
  Line newest_;              // from the last anchor on
  bool knows_rate_ = false;  // from two anchors
  size_t awake_ = 0;         // the first anchor since the machine slept
  // Where the counter began anew: the line of ticks that are so far ahead of the last anchor.
  std::optional<Line> before_;
  uint64_t ahead_ticks_ = 0;
  static constexpr int64_t kAheadNs = 600'000'000'000;
  Line line_;                // the one that was asked for last
  uint64_t line_ticks_ = 0;  // from its start on; 0: look for it
};

}  // namespace xlaprof::record
