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
    idle.longest.push_back({Interval{int64_t(i), int64_t(i) + ns_of_part[i]}, ns_of_part[i], i});
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

// Returns gaps of 50 ns at these parts of 100.
IdleOfCause GapsAt(std::initializer_list<size_t> parts) {
  std::vector<int64_t> ns(100, 0);
  for (const size_t part : parts) ns[part] = 50;
  return WithGaps(ns);
}

// Regression: the device was idle for 85 % of a run that made images, because the host worked after
// each image, and the gaps counted as incidents, because nine of ten steps had none.
TEST(Recurrence, FourGapsAtRegularDistancesAreAPattern) {
  const Recurrence recurrence = RecurrenceOf(GapsAt({20, 35, 60, 80}), 100);
  EXPECT_EQ(recurrence.recurring_ns, 200);
  EXPECT_EQ(recurrence.once_ns, 0);
}

TEST(Recurrence, RegularGapsAreNoMoreThanTheFourthLongest) {
  IdleOfCause idle = GapsAt({20, 40, 60, 80});
  idle.in_part[40] = 300;
  idle.longest[1].gap.end_ns = 340;
  idle.KeepLongest();
  const Recurrence recurrence = RecurrenceOf(idle, 100);
  EXPECT_EQ(recurrence.recurring_ns, 200);
  EXPECT_EQ(recurrence.once_ns, 300);
}

TEST(Recurrence, RareGapsAtOtherDistancesAreNone) {
  EXPECT_EQ(RecurrenceOf(GapsAt({20, 31, 60, 80}), 100).recurring_ns, 0) << "29 and 11";
  EXPECT_EQ(RecurrenceOf(GapsAt({10, 20, 30, 40}), 100).recurring_ns, 0) << "only at first";
  EXPECT_EQ(RecurrenceOf(GapsAt({60, 70, 80, 90}), 100).recurring_ns, 0) << "only at last";
  EXPECT_EQ(RecurrenceOf(GapsAt({25, 50, 75}), 100).recurring_ns, 0) << "three";
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
