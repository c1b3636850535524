#include "analyzers/quantity.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(Quantity, Durations) {
  EXPECT_EQ(DurationText(0), "0 ns");
  EXPECT_EQ(DurationText(999), "999 ns");
  EXPECT_EQ(DurationText(410'000), "410 us");
  EXPECT_EQ(DurationText(83'000'000), "83 ms");
  EXPECT_EQ(DurationText(999'700'000), "1 s");
  EXPECT_EQ(DurationText(1'240'000'000), "1.24 s");
  EXPECT_EQ(DurationText(12'345'000'000'000), "12,345 s");
  EXPECT_EQ(DurationText(-1'500), "-1.5 us");
}

TEST(Quantity, SizesCountsAndShares) {
  EXPECT_EQ(BytesText(4), "4 B");
  EXPECT_EQ(BytesText(1'240'000), "1.24 MB");
  EXPECT_EQ(BytesText(999'900), "1 MB");
  EXPECT_EQ(CountText(7), "7");
  EXPECT_EQ(CountText(1'234'567), "1,234,567");
  EXPECT_EQ(CountText(-123'456), "-123,456");
  EXPECT_EQ(Plural(1, "step"), "1 step");
  EXPECT_EQ(Plural(0, "step"), "0 steps");
  EXPECT_EQ(Plural(1'024, "copy", "copies"), "1,024 copies");
  EXPECT_EQ(PerStepText(1.04), "1.04 a step");
  EXPECT_EQ(PerStepText(1.0 / 3), "once every 3 steps");
  EXPECT_EQ(PercentText(0), "0 %");
  EXPECT_EQ(PercentText(0.00001), "< 0.1 %");
  EXPECT_EQ(PercentText(0.0123), "1.2 %");
  EXPECT_EQ(PercentText(0.1234), "12 %");
}

TEST(Quantity, ListsHaveOneAnd) {
  EXPECT_EQ(ListText({}), "");
  EXPECT_EQ(ListText({"a"}), "a");
  EXPECT_EQ(ListText({"a", "b"}), "a and b");
  EXPECT_EQ(ListText({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace xlaprof
