#include "analyzers/graph/unrolled_loop.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

// Returns a program that multiplies `turns` times at cell.py:13, with `weights` inputs of the shape
// of the weights.
PrintedGraph Recurrence(int turns, int weights, int other_operations = 0) {
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
    nodes.push_back({.op = "fusion",
                     .shape = "f32[64,96]{1,0}",
                     .operands = fmt::format("0,{}", weights < turns ? 1 : 1 + i),
                     .location = "gru@cell.py:13"});
  }
  for (int i = 0; i < other_operations; ++i)
    nodes.push_back({.op = "add", .shape = "f32[]", .location = fmt::format("adam@lib.py:{}", i)});
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
    const int input = std::min(i, inputs - 1);
    int line = 14;
    for (const char* op : {"slice", "multiply", "add"}) {
      nodes.push_back({.op = op,
                       .shape = "f32[64,64]",
                       .operands = line > 14 ? fmt::format("{}", nodes.size() - 1)
                                             : fmt::format("{},{}", nodes.size() - 1, input),
                       .location = fmt::format("step@{}:{}", file, line++)});
    }
  }
  return TestGraph(nodes, PrintedForm::kHlo);
}

// Returns a program of `turns` turns at two lines of net.py, or of as many layers. Each turn scales
// and shifts by ten weights. A weight is an input, a part of one input for all layers, or what a
// mask leaves of it (jnp.where).
enum class Weights { kSame, kOwn, kParts, kMasked };
PrintedGraph Network(int turns, Weights weights) {
  TestNodes nodes{{.op = "xla::device_data", .shape = "f32[8,32]"}};
  const int inputs = weights == Weights::kOwn ? 10 * turns : 10;
  for (int i = 0; i < inputs; ++i)
    nodes.push_back({.op = "xla::device_data", .shape = "f32[32,32]"});
  int last = 0;
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < 10; ++i) {
      int weight = 1 + (weights == Weights::kOwn ? 10 * turn + i : i);
      if (weights == Weights::kParts) {
        nodes.push_back({.op = "xla::generic_slice",
                         .shape = "f32[32,32]",
                         .operands = fmt::format("{}", weight),
                         .attributes = fmt::format("base_indices=({}, 0)", turn),
                         .location = "forward@net.py:11"});
        weight = int(nodes.size()) - 1;
      }
      if (weights == Weights::kMasked) {
        nodes.push_back({.op = "select",
                         .shape = "f32[32,32]",
                         .operands = fmt::format("{}", weight),
                         .location = "forward@net.py:11"});
        weight = int(nodes.size()) - 1;
      }
      for (const char* op : {"aten::mul", "aten::add"}) {
        nodes.push_back({.op = op,
                         .shape = "f32[8,32]",
                         .operands = fmt::format("{},{}", last, weight),
                         .location = fmt::format("forward@net.py:{}", 12 + (op[6] == 'a'))});
        last = int(nodes.size()) - 1;
      }
    }
  }
  return TestGraph(nodes, weights == Weights::kMasked ? PrintedForm::kHlo : PrintedForm::kIrText);
}

TEST(UnrolledLoopTest, TurnsMayHaveManyWeights) {
  const auto loop = LoopOf(Network(20, Weights::kSame));
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->turns, 20) << "each weight is read once in each turn";
  EXPECT_EQ(loop->body_nodes, 20);
  EXPECT_EQ(loop->share, 1);
  EXPECT_EQ(loop->location, "forward@net.py:12");
}

TEST(UnrolledLoopTest, LayersInsideOfTurnsAreNoTurns) {
  EXPECT_FALSE(LoopOf(Network(15, Weights::kSame)));
}

TEST(UnrolledLoopTest, LayersReadInputsOfTheirOwn) {
  EXPECT_FALSE(LoopOf(Network(20, Weights::kOwn)));
  EXPECT_FALSE(LoopOf(Network(20, Weights::kParts)));
}

// HLO's select chooses between elements. torch_xla's xla::select takes a part.
TEST(UnrolledLoopTest, TurnsMayMaskTheirWeights) {
  const auto loop = LoopOf(Network(20, Weights::kMasked));
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->turns, 20);
  EXPECT_EQ(loop->body_nodes, 30);
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
  EXPECT_EQ(loop->body_nodes, 2) << "the multiplication, and the fusion that it is in";
  EXPECT_EQ(loop->location, "gru@cell.py:13");
}

TEST(UnrolledLoopTest, MultiplicationsShowALoopAmongOtherOperations) {
  const auto loop = LoopOf(Recurrence(48, 3, 97));
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->turns, 48);
  EXPECT_EQ(loop->weight_shape, "f32[32,96]");
  EXPECT_EQ(loop->location, "gru@cell.py:13");
  EXPECT_EQ(loop->share, 0) << "how much of the program the loop is was not found";
}

TEST(UnrolledLoopTest, LayersHaveTheirOwnWeights) { EXPECT_FALSE(LoopOf(Recurrence(48, 48))); }

TEST(UnrolledLoopTest, AFewTurnsAreNoLoop) {
  EXPECT_TRUE(LoopOf(Recurrence(16, 2)));
  EXPECT_FALSE(LoopOf(Recurrence(15, 1)));
  EXPECT_FALSE(LoopOf({}));
}

}  // namespace
}  // namespace xlaprof
