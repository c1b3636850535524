// Converts ticks of the recorder's clock to the store's time. That clock is the processor's time
// stamp counter if it runs at one rate on all cores, otherwise CLOCK_MONOTONIC. Internal to
// profiler/record.
#pragma once

#include <optional>
#include <vector>

#include "profiler/record/ring_file.h"

namespace xlaprof::record {

// Nothing announces the counter's rate, so both clocks are read together again and again. Time is
// taken to run evenly between two such anchors. Over an hour the result drifts by no more than the
// error of one reading, some tens of ns.
class Clock {
 public:
  // Returns whether this processor's counter runs at one rate (CPUID's "invariant TSC").
  static bool HasInvariantTsc();
  // Reads both clocks now. `origin_ns` is CLOCK_MONOTONIC at the store's time 0.
  static Anchor ReadAnchor(int64_t origin_ns);

  explicit Clock(Anchor first) : anchors_{first}, newest_{.from = first}, line_(newest_) {}

  // Takes a rate that is known from elsewhere; 0 means that it is not known.
  Clock(Anchor first, int64_t ns_per_tick) : Clock(first) {
    if (ns_per_tick > 0) newest_.ns_per_tick = line_.ns_per_tick = ns_per_tick;
    knows_rate_ = ns_per_tick > 0;
  }

  // Adds an anchor later than all earlier ones, unless it is closer than kClosestNs to the last.
  // While a machine sleeps CLOCK_MONOTONIC stops; the counter may run on, or restart. Add detects
  // both, and earlier ticks keep their times.
  void Add(Anchor anchor);
  // Returns whether the two clocks have diverged since the last anchor. If so, add the next one at
  // once.
  bool HasJumped(Anchor now) const;
  // Returns the rate times 2^32, or 0 if it is not known yet.
  int64_t ns_per_tick() const { return knows_rate_ ? newest_.ns_per_tick : 0; }
  // Returns the store's time of `ticks`. Before the first and after the last anchor, the line
  // through the two nearest anchors goes on.
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
  Line newest_;              // the line from the last anchor on
  bool knows_rate_ = false;  // whether two anchors gave the rate
  size_t awake_ = 0;         // index of the first anchor since the machine slept
  // If the counter restarted: the line for ticks that are this far ahead of the last anchor.
  std::optional<Line> before_;
  uint64_t ahead_ticks_ = 0;
  static constexpr int64_t kAheadNs = 600'000'000'000;
  Line line_;                // the line of the last call of Ns
  uint64_t line_ticks_ = 0;  // how far line_ is valid from its start; 0: find it again
};

}  // namespace xlaprof::record
