#include "analyzers/recompile/padding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Padding, BucketsArePowersOfTwoUpToTheLargest) {
  const std::vector<Sizes> sizes = {{64}, {48}, {17}, {33}, {9}, {25}};
  EXPECT_THAT(PadToBuckets(sizes).buckets, ElementsAre(Sizes{16}, Sizes{32}, Sizes{64}));
  EXPECT_THAT(PadToLargest(sizes).buckets, ElementsAre(Sizes{64}));
  // 64+64+32+64+16+32 = 272 rows with buckets instead of 196; 6 * 64 = 384 with the largest size.
  EXPECT_NEAR(PadToBuckets(sizes).extra_work, 76.0 / 196, 1e-9);
  EXPECT_NEAR(PadToLargest(sizes).extra_work, 188.0 / 196, 1e-9);
}

TEST(Padding, SizesCountAsOftenAsTheyCame) {
  const std::vector<Sizes> sizes = {{64}, {48}, {33}};
  const std::vector<int64_t> times = {8, 1, 1};
  EXPECT_NEAR(PadToLargest(sizes, times).extra_work, 47.0 / 593, 1e-9);
  EXPECT_NEAR(PadToBuckets(sizes, times).extra_work, 47.0 / 593, 1e-9);
}

TEST(Padding, TheLargestIsNotRoundedUp) {
  EXPECT_THAT(PadToBuckets(std::vector<Sizes>{{100}, {70}, {30}}).buckets,
              ElementsAre(Sizes{32}, Sizes{100}));
}

// Batches of about the same number of tokens: the more rows, the shorter they are.
TEST(Padding, EachDimensionHasItsBuckets) {
  const std::vector<Sizes> sizes = {{40, 49}, {29, 70}, {17, 119}, {7, 200}};
  const Padding buckets = PadToBuckets(sizes), largest = PadToLargest(sizes);
  EXPECT_THAT(buckets.buckets, ElementsAre(Sizes{8, 200}, Sizes{32, 128}, Sizes{40, 64}));
  EXPECT_THAT(largest.buckets, ElementsAre(Sizes{40, 200}));
  EXPECT_NEAR(buckets.extra_work, (8. * 200 + 2 * 32 * 128 + 40 * 64) / 7413 - 1, 1e-9);
  EXPECT_NEAR(largest.extra_work, 4. * 40 * 200 / 7413 - 1, 1e-9);
  EXPECT_EQ(SizeList(buckets.buckets), "8×200, 32×128, 40×64");
}

TEST(Padding, NoSizesNoBuckets) {
  EXPECT_THAT(PadToBuckets({}).buckets, IsEmpty());
  EXPECT_THAT(PadToLargest({}).buckets, IsEmpty());
}

TEST(Padding, ListsAreCut) {
  std::vector<Sizes> sizes = {{1}, {2}, {3}, {4}};
  EXPECT_EQ(SizeList(sizes), "1, 2, 3, 4");
  sizes.resize(14, {5});
  EXPECT_EQ(SizeList(sizes), "1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5 and 2 more");
}

}  // namespace
}  // namespace xlaprof
