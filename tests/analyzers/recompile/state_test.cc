#include "analyzers/recompile/state.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzers/policy.h"

namespace xlaprof {
namespace {

State Word(const std::vector<int64_t>& compiles, int64_t steps) {
  return StateOf(compiles, 0, steps - 1, policy::kMinWarmUpSteps).word;
}

TEST(RecompileState, NothingCompiledOrNoStepIsUnknown) {
  EXPECT_EQ(Word({}, 10), State::kUnknown);
  EXPECT_EQ(StateOf(std::vector<int64_t>{3}, 0, -1, policy::kMinWarmUpSteps).word, State::kUnknown);
}

TEST(RecompileState, OnlyTheFirstTwoStepsAreWarmUp) {
  EXPECT_EQ(Word({0, 1}, 25), State::kWarmUp);
  EXPECT_EQ(Word({0, 1, 2}, 25), State::kSettled);
}

TEST(RecompileState, OngoingNeedsTwoInTheLastHalfAndOneInTheLastQuarter) {
  EXPECT_EQ(Word({3, 5, 7, 9, 11}, 14), State::kOngoing);
  EXPECT_EQ(Word({1, 30}, 40), State::kUnknown);  // a single late one is too little
  EXPECT_EQ(Word({3, 5, 19, 30}, 40), State::kUnknown);
  EXPECT_EQ(Word({3, 20, 30}, 40), State::kOngoing);
  EXPECT_EQ(Word({3, 20, 29}, 40), State::kSettled);
}

TEST(RecompileState, BurstIsThreeWithinFewStepsAndOver) {
  const RecompileState burst =
      StateOf(std::vector<int64_t>{0, 20, 21, 22}, 0, 39, policy::kMinWarmUpSteps);
  EXPECT_EQ(burst.word, State::kBurst);
  EXPECT_EQ(burst.step, 20);
  EXPECT_EQ(burst.after_warm_up, 3);
  EXPECT_EQ(Word({20, 21}, 40), State::kSettled);        // two are not a burst
  EXPECT_EQ(Word({20, 21, 30}, 40), State::kOngoing);    // scattered ones are not a burst
  EXPECT_EQ(Word({37, 38, 39}, 40), State::kOngoing);    // not over yet
  EXPECT_EQ(Word({490, 491, 493}, 500), State::kBurst);  // late in a long run, and over
}

TEST(RecompileState, SettledSaysSinceWhen) {
  const RecompileState state = StateOf(std::vector<int64_t>{3, 8}, 0, 39, policy::kMinWarmUpSteps);
  EXPECT_EQ(state.word, State::kSettled);
  EXPECT_EQ(state.step, 8);
}

TEST(RecompileState, AWindowInTheMiddleOfARunHasNoWarmUp) {
  EXPECT_EQ(StateOf(std::vector<int64_t>{100, 105, 108}, 100, 109, policy::kMinWarmUpSteps).word,
            State::kOngoing);
  EXPECT_EQ(StateOf(std::vector<int64_t>{100, 101}, 100, 109, policy::kMinWarmUpSteps).word,
            State::kSettled);
}

}  // namespace
}  // namespace xlaprof
