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

// All places but those of lib.py are the user's.
std::optional<UnrolledLoop> LoopOf(const PrintedGraph& graph) {
  return FindUnrolledLoop(
      graph, [](std::string_view location) { return location.find("lib.py") == location.npos; });
}

// Returns a program of `turns` turns that each shift, multiply and add at three lines, and of `inputs`
// arrays.
PrintedGraph Stencil(int turns, int inputs, std::string_view file) {
  TestNodes nodes;
  for (int i = 0; i < inputs; ++i)
    nodes.push_back({.op = "parameter", .shape = fmt::format("f32[64,{}]", 64 + i)});
  for (int i = 0; i < turns; ++i) {
    int line = 14;
    for (const char* op : {"slice", "multiply", "add"}) {
      nodes.push_back({.op = op,
                       .shape = "f32[64,64]",
                       .operands = fmt::format("{}", nodes.size() - 1),
                       .location = fmt::format("step@{}:{}", file, line++)});
    }
  }
  return TestGraph(nodes, PrintedForm::kHlo);
}

TEST(UnrolledLoopTest, OperationsOfALoopMakeUpMostOfTheProgram) {
  const auto loop = LoopOf(Stencil(16, 2, "solver.py"));
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->turns, 16);
  EXPECT_EQ(loop->weight_shape, "");
  EXPECT_EQ(loop->location.substr(0, 14), "step@solver.py");
  EXPECT_FALSE(LoopOf(Stencil(15, 2, "solver.py")));
}

TEST(UnrolledLoopTest, OperationsOfLayersComeWithInputs) {
  EXPECT_TRUE(LoopOf(Stencil(16, 7, "solver.py")));
  EXPECT_FALSE(LoopOf(Stencil(16, 8, "solver.py")));
}

TEST(UnrolledLoopTest, OperationsOfLibrariesSayNothing) {
  EXPECT_FALSE(LoopOf(Stencil(16, 2, "lib.py")));
}

TEST(UnrolledLoopTest, TurnsUseTheSameWeights) {
  const auto loop = LoopOf(Recurrence(48, 3));  // the weights, and the optimizer's state
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->turns, 48);
  EXPECT_EQ(loop->weight_shape, "f32[32,96]");
  EXPECT_EQ(loop->location, "gru@cell.py:13");
}

TEST(UnrolledLoopTest, LayersHaveTheirOwnWeights) { EXPECT_FALSE(LoopOf(Recurrence(48, 48))); }

TEST(UnrolledLoopTest, AFewTurnsAreNoLoop) {
  EXPECT_TRUE(LoopOf(Recurrence(16, 2)));
  EXPECT_FALSE(LoopOf(Recurrence(15, 1)));
  EXPECT_FALSE(LoopOf({}));
}

}  // namespace
}  // namespace xlaprof
