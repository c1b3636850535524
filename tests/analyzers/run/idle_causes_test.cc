#include "analyzers/run/idle_causes.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

// Makes a cause with one gap in each part of the run.
IdleOfCause WithGaps(const std::vector<int64_t>& ns_of_part) {
  IdleOfCause idle;
  for (size_t i = 0; i < ns_of_part.size(); ++i) {
    if (ns_of_part[i] == 0) continue;
    idle.ns += ns_of_part[i];
    idle.in_part[i] = ns_of_part[i];
    ++idle.gaps;
    idle.longest.push_back({Interval{int64_t(i), int64_t(i) + ns_of_part[i]}, ns_of_part[i]});
  }
  idle.KeepLongest();
  return idle;
}

TEST(Recurrence, EqualGapsRecurWhole) {
  const Recurrence recurrence = RecurrenceOf(WithGaps({10, 10, 10, 10}), 4);
  EXPECT_EQ(recurrence.recurring_ns, 40);
  EXPECT_EQ(recurrence.once_ns, 0);
}

TEST(Recurrence, ASingleGapDoesNotRecur) {
  const Recurrence recurrence = RecurrenceOf(WithGaps({0, 500, 0, 0, 0, 0, 0, 0, 0, 0}), 10);
  EXPECT_EQ(recurrence.recurring_ns, 0);
  EXPECT_EQ(recurrence.once_ns, 500);
  ASSERT_EQ(recurrence.once.size(), 1u);
  EXPECT_EQ(recurrence.once[0].gap.begin_ns, 1);
}

TEST(Recurrence, StartUpIsTakenApartFromThePattern) {
  std::vector<int64_t> ns(100, 10);
  ns[0] = 900, ns[1] = 500, ns[2] = 400;
  const Recurrence recurrence = RecurrenceOf(WithGaps(ns), 100);
  EXPECT_EQ(recurrence.recurring_ns, 1000);  // 100 parts of 10
  EXPECT_EQ(recurrence.once_ns, 1800);
  EXPECT_EQ(recurrence.once.size(), 3u);
}

TEST(Recurrence, EveryTenthStepIsAPattern) {
  std::vector<int64_t> ns(100, 0);
  for (size_t i = 0; i < 100; i += 10) ns[i] = 50;
  const Recurrence recurrence = RecurrenceOf(WithGaps(ns), 100);
  EXPECT_EQ(recurrence.recurring_ns, 500);
  EXPECT_EQ(recurrence.once_ns, 0);
}

TEST(Recurrence, OneStepShowsNoPattern) {
  EXPECT_EQ(RecurrenceOf(WithGaps({10}), 1).recurring_ns, 0);
  EXPECT_EQ(RecurrenceOf(WithGaps({10}), 1).once_ns, 10);
}

// Regression: of 2,499 equal gaps, the evidence was the first 8, which all lay in the first 5 ms.
TEST(SpreadFirst, EqualGapsAreCitedFromTheWholeRun) {
  IdleOfCause idle;
  for (size_t i = 0; i < 800; ++i) {
    const LongGap gap{Interval{int64_t(i) * 100, int64_t(i) * 100 + (i == 450 ? 60 : 50)}};
    idle.longest.push_back(gap);
    idle.KeepInStretch(i / 100, gap);
  }
  idle.KeepLongest();
  const std::vector<LongGap> spread = idle.SpreadFirst(0);
  ASSERT_GE(spread.size(), kStretches);
  EXPECT_EQ(spread[0].gap.begin_ns, 45'000) << "the longest";
  for (size_t i = 1; i < kStretches; ++i)
    EXPECT_EQ(spread[i].gap.begin_ns, int64_t(i <= 4 ? i - 1 : i) * 10'000);
}

TEST(SpreadFirst, GapsOfAnotherPartAreNotCited) {
  IdleOfCause idle;
  for (size_t i = 0; i < 20; ++i) {
    const LongGap gap{Interval{int64_t(i) * 1000, int64_t(i) * 1000 + (i == 0 ? 900 : 50)}};
    idle.longest.push_back(gap);
    idle.KeepInStretch(i * kStretches / 20, gap);
  }
  idle.KeepLongest();
  for (const LongGap& gap : idle.SpreadFirst(1)) EXPECT_NE(gap.gap.begin_ns, 0);
  EXPECT_EQ(idle.SpreadFirst(1).size(), 19u);
}

}  // namespace
}  // namespace xlaprof
