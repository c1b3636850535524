#include "analyzers/graph/loop_count.h"

#include <gtest/gtest.h>

#include <vector>

namespace xlaprof {
namespace {

// Returns a graph of `base` single nodes and `turns` copies of a body of 50 different nodes, two of
// each, all in the order of their kinds: no two copies lie side by side.
std::vector<uint64_t> Unrolled(int base, int turns) {
  std::vector<uint64_t> kinds;
  for (int i = 0; i < base; ++i) kinds.push_back(uint64_t(1000 + i));
  for (int i = 0; i < 50; ++i) kinds.insert(kinds.end(), size_t(2 * turns), uint64_t(i));
  return kinds;
}

TEST(RepeatCount, CountsMicroBatchesOfWhichNoTwoLieSideBySide) {
  const auto count = FindRepeatCount(Unrolled(20, 4), Unrolled(20, 3));
  ASSERT_TRUE(count);
  EXPECT_EQ(count->shorter_turns, 3);
  EXPECT_EQ(count->longer_turns, 4);
  EXPECT_EQ(count->body_nodes, 100);
}

TEST(RepeatCount, CountsTwoTurnsMore) {
  const auto count = FindRepeatCount(Unrolled(20, 5), Unrolled(20, 3));
  ASSERT_TRUE(count);
  EXPECT_EQ(count->shorter_turns, 3);
  EXPECT_EQ(count->longer_turns, 5);
  EXPECT_EQ(count->body_nodes, 100);
}

TEST(RepeatCount, AllowsAFewOtherNodes) {
  EXPECT_TRUE(FindRepeatCount(Unrolled(20, 4), Unrolled(28, 3)));
  EXPECT_FALSE(FindRepeatCount(Unrolled(20, 4), Unrolled(60, 3)));
}

TEST(RepeatCount, OtherOpsAreNoRepetition) {
  std::vector<uint64_t> longer = Unrolled(20, 3);
  for (uint64_t i = 0; i < 100; ++i) longer.push_back(5000 + i);
  EXPECT_FALSE(FindRepeatCount(longer, Unrolled(20, 3)));
}

TEST(RepeatCount, FewNodesMayBeProportionalByChance) {
  const std::vector<uint64_t> shorter(10, 1), longer(20, 1);
  EXPECT_FALSE(FindRepeatCount(longer, shorter));
}

}  // namespace
}  // namespace xlaprof
