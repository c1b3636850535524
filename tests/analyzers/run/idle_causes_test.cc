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

}  // namespace
}  // namespace xlaprof
