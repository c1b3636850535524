#include "analyzers/graph/unrolled_loop.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

// Returns a program that multiplies `turns` times at cell.py:13, with `weights` inputs of the shape
// of the weights.
PrintedGraph Recurrence(int turns, int weights) {
  TestNodes nodes{{.op = "parameter", .shape = "f32[64,32]{1,0}"}};
  for (int i = 0; i < weights; ++i)
    nodes.push_back({.op = "parameter", .shape = "f32[32,96]{1,0}"});
  for (int i = 0; i < turns; ++i) {
    // A fused computation has parameters of its own.
    const int first = int(nodes.size());
    for (const char* shape : {"f32[64,32]{1,0}", "f32[32,96]{0,1}"}) {
      nodes.push_back(
          {.op = "parameter", .shape = shape, .computation = fmt::format("fused.{}", i)});
    }
    nodes.push_back({.op = "dot",
                     .shape = "f32[64,96]{1,0}",
                     .operands = fmt::format("{},{}", first, first + 1),
                     .location = "gru@cell.py:13",
                     .computation = fmt::format("fused.{}", i)});
  }
  return TestGraph(nodes, PrintedForm::kHloOptimized);
}

TEST(UnrolledLoopTest, TurnsUseTheSameWeights) {
  const auto loop = FindUnrolledLoop(Recurrence(48, 3));  // the weights, and the optimizer's state
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->turns, 48);
  EXPECT_EQ(loop->weight_shape, "f32[32,96]");
  EXPECT_EQ(loop->location, "gru@cell.py:13");
}

TEST(UnrolledLoopTest, LayersHaveTheirOwnWeights) {
  EXPECT_FALSE(FindUnrolledLoop(Recurrence(48, 48)));
}

TEST(UnrolledLoopTest, AFewTurnsAreNoLoop) {
  EXPECT_TRUE(FindUnrolledLoop(Recurrence(16, 2)));
  EXPECT_FALSE(FindUnrolledLoop(Recurrence(15, 1)));
  EXPECT_FALSE(FindUnrolledLoop({}));
}

}  // namespace
}  // namespace xlaprof
