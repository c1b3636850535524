#include "profiler/import/join/inner_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace xlaprof {
namespace {

constexpr MarkPlace kLoop{CutKind::kParallelLoader, 1}, kModel{CutKind::kUserSync, 2};

class InnerMarksTest : public testing::Test {
 protected:
  void Mark(const MarkPlace& place, int64_t graph) { marks_.push_back({.place = place, .graph = graph}); }
  // Makes steps in which the model marks after each of three layers.
  void LayersOfSteps(int steps) {
    for (int step = 0; step < steps; ++step) {
      for (int64_t layer : {10, 11, 12}) Mark(kModel, layer);
      Mark(kLoop, 20);
    }
  }
  std::vector<StepMark> marks_;
};

TEST_F(InnerMarksTest, MarksAfterEachLayerLieInsideTheStep) {
  LayersOfSteps(11);
  EXPECT_THAT(InnerMarks(marks_), testing::ElementsAre(kModel));
}

TEST_F(InnerMarksTest, AFewStepsMayDiffer) {
  LayersOfSteps(6);
  for (int i = 0; i < 2; ++i) Mark(kModel, 30), Mark(kLoop, 31);  // an evaluation
  LayersOfSteps(9);
  EXPECT_THAT(InnerMarks(marks_), testing::ElementsAre(kModel));
}

TEST_F(InnerMarksTest, StepsOfAnEpochExecuteOneGraphAndAreSteps) {
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (int step = 0; step < 5; ++step) Mark(kModel, 10);
    Mark(kLoop, 20);  // the end of the epoch
  }
  EXPECT_TRUE(InnerMarks(marks_).empty());
}

TEST_F(InnerMarksTest, EqualLayersOfAModelExecuteOneGraphInsideTheStep) {
  for (int step = 0; step < 20; ++step) {
    for (int layer = 0; layer < 5; ++layer)
      marks_.push_back({.place = kModel, .graph = 10, .is_in_forward = true});
    Mark(kLoop, 20);
  }
  EXPECT_THAT(InnerMarks(marks_), testing::ElementsAre(kModel));
}

// Two optimizers that take turns mark one step each.
TEST_F(InnerMarksTest, MarksThatTakeTurnsAreSteps) {
  for (int step = 0; step < 20; ++step) Mark(kModel, 10), Mark(kLoop, 20);
  EXPECT_TRUE(InnerMarks(marks_).empty());
}

TEST_F(InnerMarksTest, FewStepsShowNothing) {
  LayersOfSteps(5);
  EXPECT_TRUE(InnerMarks(marks_).empty());
  EXPECT_TRUE(InnerMarks({}).empty());
}

}  // namespace
}  // namespace xlaprof
