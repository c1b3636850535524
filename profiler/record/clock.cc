#include "profiler/record/clock.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>

#include "base/clock_ns.h"

namespace xlaprof::record {

bool Clock::HasInvariantTsc() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariant = 1u << 8;  // Intel SDM vol. 2A, CPUID
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
#else
  return false;
#endif
}

Anchor Clock::ReadAnchor(int64_t origin_ns) {
  // Keeps the reading that took the fewest ticks, because nothing interrupted that one.
  Anchor best;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const uint64_t before = Now();
    const int64_t ns = ClockNs(CLOCK_MONOTONIC);
    const uint64_t after = Now();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + (after - before) / 2, ns - origin_ns};
  }
  return best;
}

Clock::Line Clock::Between(Anchor a, Anchor b) {
  Line line{.from = a};
  if (b.ticks > a.ticks && b.ns > a.ns) {
    __extension__ using Wide = unsigned __int128;
    line.ns_per_tick = int64_t((Wide(uint64_t(b.ns - a.ns)) << 32) / (b.ticks - a.ticks));
  }
  return line;
}

void Clock::Add(Anchor anchor) {
  constexpr int64_t kBaseNs = 100'000'000;
  constexpr size_t kMaxAnchors = 1 << 16;
  if (anchor.ns < anchors_.back().ns + kClosestNs) return;
  if (anchor.ticks <= anchors_.back().ticks) return BeginAnew(anchor);
  if (HasJumped(anchor)) return AddJump(anchor);
  // A longer distance to the earlier reading gives a better rate, but the rate may have changed if
  // the distance is too long.
  auto base = anchors_.end() - 1;
  while (base - anchors_.begin() > int64_t(awake_) && base->ns > anchor.ns - kBaseNs) --base;
  newest_ = Between(*base, anchor);
  newest_.from = anchor;
  knows_rate_ = true;
  if (anchors_.size() == kMaxAnchors) {  // every second anchor is enough
    for (size_t i = 0; i < kMaxAnchors / 2; ++i) anchors_[i] = anchors_[2 * i];
    anchors_.resize(kMaxAnchors / 2);
    awake_ /= 2;
  }
  anchors_.push_back(anchor);
  line_ticks_ = 0;
}

bool Clock::HasJumped(Anchor now) const {
  const Anchor& last = anchors_.back();
  if (!knows_rate_ || now.ns <= last.ns) return false;
  if (now.ticks < last.ticks) return true;
  __extension__ using Wide = __int128;
  const int64_t awake_ns = now.ns - last.ns;
  const Wide counted_ns = Wide(now.ticks - last.ticks) * newest_.ns_per_tick >> 32;
  return counted_ns - awake_ns > std::max(kJumpNs, awake_ns);
}

// Adds an anchor after the machine slept while the counter ran on. Events recorded before the sleep
// lie after the last anchor, at most as long after it as the machine was awake; events recorded
// after the sleep lie as close before the new anchor.
void Clock::AddJump(Anchor anchor) {
  const Anchor last = anchors_.back();
  const uint64_t awake_ticks = newest_.TicksOf(anchor.ns - last.ns);
  anchors_.push_back({last.ticks + awake_ticks, anchor.ns});
  anchors_.push_back({anchor.ticks - awake_ticks, last.ns});
  awake_ = anchors_.size();
  anchors_.push_back(anchor);
  newest_.from = anchor;
  line_ticks_ = 0;
}

// Begins a new line, because the counter is behind its earlier value. Earlier ticks are so far
// ahead that no new event can have them.
void Clock::BeginAnew(Anchor anchor) {
  if (!knows_rate_) return;
  before_ = newest_;
  ahead_ticks_ = newest_.TicksOf(kAheadNs);
  anchors_.assign(1, anchor);
  awake_ = 0;
  newest_.from = anchor;
  line_ticks_ = 0;
}

void Clock::FindLine(uint64_t ticks) {
  if (before_ && ticks > anchors_.back().ticks + ahead_ticks_) {
    line_ = *before_;
    line_ticks_ = 0;
    return;
  }
  auto after = std::upper_bound(anchors_.begin(), anchors_.end(), ticks,
                                [](uint64_t t, const Anchor& a) { return t < a.ticks; });
  if (after == anchors_.begin() && anchors_.size() > 1) ++after;  // `ticks` precede all anchors
  if (after == anchors_.end() || anchors_.size() == 1) {
    line_ = newest_;
    line_ticks_ = before_ ? ahead_ticks_ : UINT64_MAX - line_.from.ticks;
    return;
  }
  line_ = Between(*(after - 1), *after);
  line_ticks_ = after->ticks - line_.from.ticks;
}

}  // namespace xlaprof::record
