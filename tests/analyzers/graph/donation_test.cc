#include "analyzers/graph/donation.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

std::vector<DonatableCopy> CopiesOf(const TestNodes& nodes) {
  return DonatableCopiesOf(TestGraph(nodes, PrintedForm::kHloOptimized));
}

constexpr const char* kBig = "f32[400,64]{1,0}";

// Returns a program that copies its first parameter, updates the copy and returns it.
TestNodes Update() {
  return {{.op = "parameter", .shape = kBig, .attributes = "parameter=0, argument=\"state['w']\""},
          {.op = "parameter", .shape = "s32[8]{0}", .attributes = "parameter=1"},
          {.op = "copy", .shape = kBig, .operands = "0"},
          {.op = "fusion", .shape = kBig, .operands = "2,1"},
          {.op = "tuple", .shape = "(s32[8]{0}, f32[400,64]{1,0})", .operands = "1,3", .root = 0}};
}

TEST(Donation, ACopyThatReachesAResultOfItsShape) {
  const auto copies = CopiesOf(Update());
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].parameter, 0);
  EXPECT_EQ(copies[0].result, 1);
  EXPECT_EQ(copies[0].argument, "state['w']");
  EXPECT_EQ(copies[0].shape, "f32[400,64]");
  EXPECT_EQ(copies[0].bytes, 400 * 64 * 4);
}

TEST(Donation, ThroughALoop) {
  const char* both = "(s32[], f32[400,64]{1,0})";
  const TestNodes nodes = {{.op = "parameter", .shape = kBig, .attributes = "parameter=0"},
                           {.op = "constant", .shape = "s32[]", .attributes = "literal=0"},
                           {.op = "copy", .shape = kBig, .operands = "0"},
                           {.op = "tuple", .shape = both, .operands = "1,2"},
                           {.op = "while", .shape = both, .operands = "3"},
                           {.op = "get-tuple-element",
                            .shape = kBig,
                            .operands = "4",
                            .attributes = "index=1",
                            .root = 0}};
  ASSERT_EQ(CopiesOf(nodes).size(), 1u);
  EXPECT_EQ(CopiesOf(nodes)[0].result, 0);
}

TEST(Donation, ADonatedParameterOrResultIsNone) {
  TestNodes nodes = Update();
  nodes[0].attributes = "parameter=0, donated=none";
  EXPECT_TRUE(CopiesOf(nodes).empty());
  nodes = Update();
  nodes[1].attributes = "parameter=1, donated=1";  // the only result of this shape is taken
  EXPECT_TRUE(CopiesOf(nodes).empty());
}

// Such a copy would remain, because the old value is needed after the update.
TEST(Donation, AParameterThatIsReadAfterTheUpdateIsNone) {
  TestNodes nodes = Update();
  nodes[4] = {.op = "fusion", .shape = kBig, .operands = "3,0", .root = 0};
  EXPECT_TRUE(CopiesOf(nodes).empty());
}

TEST(Donation, ACopyToAnotherLayoutOrShapeIsNone) {
  TestNodes nodes = Update();
  nodes[2].shape = "f32[400,64]{0,1}";
  EXPECT_TRUE(CopiesOf(nodes).empty());
  nodes = Update();
  nodes[3].shape = "f32[64]{0}";  // a reduction does not keep the array
  nodes[4].shape = "(s32[8]{0}, f32[64]{0})";
  EXPECT_TRUE(CopiesOf(nodes).empty());
}

// One buffer cannot hold two results.
TEST(Donation, AParameterCountsOnce) {
  TestNodes nodes = Update();
  nodes[4] = {.op = "copy", .shape = kBig, .operands = "0"};
  nodes.push_back({.op = "tuple",
                   .shape = "(f32[400,64]{1,0}, f32[400,64]{1,0})",
                   .operands = "4,3",
                   .root = 0});
  EXPECT_EQ(CopiesOf(nodes).size(), 1u);
}

}  // namespace
}  // namespace xlaprof
