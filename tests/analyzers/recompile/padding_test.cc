#include "analyzers/recompile/padding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Padding, BucketsArePowersOfTwoUpToTheLargest) {
  const std::vector<int64_t> sizes = {64, 48, 17, 33, 9, 25};
  EXPECT_THAT(PadToBuckets(sizes).buckets, ElementsAre(16, 32, 64));
  EXPECT_THAT(PadToLargest(sizes).buckets, ElementsAre(64));
  // 64+64+32+64+16+32 = 272 rows with buckets instead of 196; 6 * 64 = 384 with the largest size.
  EXPECT_NEAR(PadToBuckets(sizes).extra_work, 76.0 / 196, 1e-9);
  EXPECT_NEAR(PadToLargest(sizes).extra_work, 188.0 / 196, 1e-9);
}

TEST(Padding, SizesCountAsOftenAsTheyCame) {
  const std::vector<int64_t> sizes = {64, 48, 33}, times = {8, 1, 1};
  EXPECT_NEAR(PadToLargest(sizes, times).extra_work, 47.0 / 593, 1e-9);
  EXPECT_NEAR(PadToBuckets(sizes, times).extra_work, 47.0 / 593, 1e-9);
}

TEST(Padding, TheLargestIsNotRoundedUp) {
  EXPECT_THAT(PadToBuckets(std::vector<int64_t>{100, 70, 30}).buckets, ElementsAre(32, 100));
}

TEST(Padding, NoSizesNoBuckets) {
  EXPECT_THAT(PadToBuckets({}).buckets, IsEmpty());
  EXPECT_THAT(PadToLargest({}).buckets, IsEmpty());
}

TEST(Padding, ListsAreCut) {
  const std::vector<int64_t> sizes = {1, 2, 3, 4};
  EXPECT_EQ(SizeList(sizes), "1, 2, 3, 4");
  EXPECT_EQ(SizeList(sizes, 2), "1, 2 and 2 more");
}

}  // namespace
}  // namespace xlaprof
