#include "profiler/record/clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace xlaprof::record {
namespace {

// A counter of 2.6 GHz whose rate is 30 ppm off what the first anchors say, read every 100 ms with
// an error of up to 60 ns, for an hour: no time is off by more than a microsecond.
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
    // Up to the next anchor, and a scope that began long before.
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

}  // namespace
}  // namespace xlaprof::record
