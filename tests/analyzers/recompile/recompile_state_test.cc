#include "analyzers/recompile/recompile_state.h"

#include <gtest/gtest.h>

#include <vector>

namespace xlaprof {
namespace {

std::string Word(const std::vector<int64_t>& compiles, int64_t steps) {
  return StateOf(compiles, 0, steps - 1).word;
}

TEST(RecompileState, NothingCompiledOrNoStepIsUnknown) {
  EXPECT_EQ(Word({}, 10), "unknown");
  EXPECT_EQ(StateOf(std::vector<int64_t>{3}, 0, -1).word, "unknown");
}

TEST(RecompileState, OnlyTheFirstTwoStepsAreWarmUp) {
  EXPECT_EQ(Word({0, 1}, 25), "warm_up");
  EXPECT_EQ(Word({0, 1, 2}, 25), "settled");
}

TEST(RecompileState, OngoingNeedsTwoAfterWarmUpAndOneInTheLastQuarter) {
  EXPECT_EQ(Word({3, 5, 7, 9, 11}, 14), "ongoing");
  EXPECT_EQ(Word({1, 30}, 40), "unknown");  // one alone, late: too little
  EXPECT_EQ(Word({3, 30}, 40), "ongoing");
  EXPECT_EQ(Word({3, 29}, 40), "settled");
}

TEST(RecompileState, BurstIsThreeWithinFewStepsAndOver) {
  const RecompileState burst = StateOf(std::vector<int64_t>{0, 20, 21, 22}, 0, 39);
  EXPECT_EQ(burst.word, "burst");
  EXPECT_EQ(burst.step, 20);
  EXPECT_EQ(burst.after_warm_up, 3);
  EXPECT_EQ(Word({20, 21}, 40), "settled");        // two are none
  EXPECT_EQ(Word({20, 21, 30}, 40), "ongoing");    // nor are scattered ones
  EXPECT_EQ(Word({37, 38, 39}, 40), "ongoing");    // not over
  EXPECT_EQ(Word({490, 491, 493}, 500), "burst");  // late in a long run, over
}

TEST(RecompileState, SettledSaysSinceWhen) {
  const RecompileState state = StateOf(std::vector<int64_t>{3, 8}, 0, 39);
  EXPECT_EQ(state.word, "settled");
  EXPECT_EQ(state.step, 8);
}

TEST(RecompileState, AWindowInTheMiddleOfARunHasNoWarmUp) {
  EXPECT_EQ(StateOf(std::vector<int64_t>{100, 108}, 100, 109).word, "ongoing");
  EXPECT_EQ(StateOf(std::vector<int64_t>{100, 101}, 100, 109).word, "settled");
}

}  // namespace
}  // namespace xlaprof
