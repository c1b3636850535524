// From ticks of the recorder's clock to the store's time. The processor's time stamp counter where
// it runs at one rate for all cores, else CLOCK_MONOTONIC. Internal to profiler/record.
#pragma once

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

  // Later than all before; those closer than kClosestNs to the last are not kept.
  void Add(Anchor anchor);
  // Ticks before the first or behind the last anchor run on as the nearest two do.
  int64_t Ns(uint64_t ticks) {
    if (ticks - line_.from.ticks >= line_ticks_) [[unlikely]]
      FindLine(ticks);
    return line_.At(ticks);
  }

  static constexpr int64_t kClosestNs = 1'000'000;

 private:
  struct Line {
    Anchor from;
    int64_t ns_per_tick = int64_t(1) << 32;  // times 2^32
    int64_t At(uint64_t ticks) const {
      __extension__ using Wide = __int128;
      return from.ns + int64_t(Wide(int64_t(ticks - from.ticks)) * ns_per_tick >> 32);
    }
  };
  static Line Between(Anchor a, Anchor b);
  void FindLine(uint64_t ticks);

  std::vector<Anchor> anchors_;
  Line newest_;              // from the last anchor on
  Line line_;                // the one that was asked for last
  uint64_t line_ticks_ = 0;  // from its start on; 0: look for it
};

}  // namespace xlaprof::record
