#include "profiler/record/clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace xlaprof::record {
namespace {

// A counter of 2.6 GHz, whose rate is up to 30 ppm off what the first anchors show, is read every
// 100 ms for an hour with an error of up to 60 ns. No time is off by more than a microsecond.
TEST(Clock, AnHourDriftsByLessThanAMicrosecond) {
  auto true_ns = [](uint64_t ticks) {
    const double s = double(ticks) / 2.6e9;
    return s * 1e9 * (1 + 30e-6 * std::sin(s / 500));
  };
  auto anchor = [&](uint64_t ticks) {
    return Anchor{ticks, int64_t(true_ns(ticks)) + int64_t(ticks % 121) - 60};
  };
  const uint64_t start = 1'000'000'000'000, second = 2'600'000'000;
  Clock clock(anchor(start));
  clock.Add(anchor(start + second / 500));
  double worst = 0;
  for (int i = 1; i <= 36'000; ++i) {
    const uint64_t now = start + second / 10 * uint64_t(i);
    // Checks a time just before the next anchor, and one from long before.
    worst = std::max(
        worst, std::abs(double(clock.Ns(now - second / 1000)) - true_ns(now - second / 1000)) *
                   (i < 3 ? 0 : 1));
    clock.Add(anchor(now));
    const uint64_t earlier = start + (now - start) / 3;
    if (i > 3) worst = std::max(worst, std::abs(double(clock.Ns(earlier)) - true_ns(earlier)));
  }
  EXPECT_LT(worst, 1000);
}

TEST(Clock, TimesNeverRunBackwards) {
  Clock clock({1000, 0});
  for (uint64_t i = 1; i < 100; ++i)
    clock.Add({1000 + i * 5'000'000, int64_t(i) * 2'000'000 + int64_t(i % 3) * 50});
  int64_t last = INT64_MIN;
  for (uint64_t ticks = 0; ticks < 600'000'000; ticks += 997) {
    const int64_t ns = clock.Ns(ticks);
    ASSERT_GE(ns, last) << ticks;
    last = ns;
  }
}

// The counter runs at 2.5 GHz with an anchor every 100 ms; then the machine sleeps for an hour,
// during which CLOCK_MONOTONIC stops. Regression: scopes before and after the sleep were an hour
// off, or lasted a thousandth of their time.
constexpr int64_t kMs = 1'000'000;
uint64_t TicksOf(int64_t ns) { return uint64_t(ns) * 5 / 2; }

TEST(Clock, TheCounterRunsOnWhileTheMachineSleeps) {
  const uint64_t start = 1'000'000'000'000, slept = TicksOf(3'600'000 * kMs);
  Clock clock({start, 0});
  for (int64_t ms = 2; ms <= 1002; ms += 100) clock.Add({start + TicksOf(ms * kMs), ms * kMs});
  const uint64_t before = start + TicksOf(1030 * kMs), after = start + slept + TicksOf(1050 * kMs);
  const Anchor awake{start + slept + TicksOf(1060 * kMs), 1060 * kMs};
  EXPECT_FALSE(clock.HasJumped({before, 1030 * kMs}));
  EXPECT_TRUE(clock.HasJumped(awake));
  clock.Add(awake);
  for (int64_t ms = 1160; ms < 2000; ms += 100) {
    EXPECT_NEAR(double(clock.Ns(before)), 1030e6, 100);
    EXPECT_NEAR(double(clock.Ns(after)), 1050e6, 100);
    const Anchor next{start + slept + TicksOf(ms * kMs), ms * kMs};
    EXPECT_FALSE(clock.HasJumped(next));
    clock.Add(next);
    EXPECT_NEAR(double(clock.Ns(next.ticks + 2'500'000)), double((ms + 1) * kMs), 100);
  }
}

TEST(Clock, TheCounterBeginsAnewWhileTheMachineSleeps) {
  const uint64_t start = TicksOf(3'600'000 * kMs);  // an hour after the counter began
  Clock clock({start, 0});
  for (int64_t ms = 2; ms <= 1002; ms += 100) clock.Add({start + TicksOf(ms * kMs), ms * kMs});
  const uint64_t before = start + TicksOf(1030 * kMs), restart = 7'000'000'000;
  const Anchor awake{restart, 1060 * kMs};
  EXPECT_TRUE(clock.HasJumped(awake));
  clock.Add(awake);
  for (int64_t ms = 1160; ms < 900'000; ms += 100) {
    EXPECT_NEAR(double(clock.Ns(restart - TicksOf(10 * kMs))), 1050e6, 100);
    if (ms < 60'000) {
      EXPECT_NEAR(double(clock.Ns(before)), 1030e6, 100);
    }
    const Anchor next{restart + TicksOf((ms - 1060) * kMs), ms * kMs};
    EXPECT_FALSE(clock.HasJumped(next));
    clock.Add(next);
    EXPECT_NEAR(double(clock.Ns(next.ticks + 2'500'000)), double((ms + 1) * kMs), 100);
  }
}

// A recovery has only the last anchor and its rate.
TEST(Clock, AnAnchorAndARateSuffice) {
  Clock clock({5000, 100}, int64_t{1} << 31);
  EXPECT_EQ(clock.Ns(7000), 1100);
  EXPECT_EQ(clock.Ns(3000), -900);
}

}  // namespace
}  // namespace xlaprof::record
