// Tests how TorchTPU's lists of operations are read.
#include "profiler/import/graph/torchtpu_ops.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(TorchtpuOps, ReadsInputsOperationsAndResults) {
  const GraphText graph = ParseTorchtpuOps(
      "# Graph: 3 ops, 2 inputs, reason: synchronize()\n"
      "%0: f32[64, 10] = input\n"
      "%1: i64[64] = input\n"
      "%2: f32[] = ones_like()    # /home/u/my train.py:15 in train_step\n"
      "%3: f32[64, 10] = cross_entropy_loss_backward(%2, %0, %1)\n"
      "%4, %5: f32[64, 64], f32[0] = linear_backward(%3, %0)    # /home/u/a.py:7 in <module>\n"
      "%6: pred[] = any.all_out(%5)\n"
      "return %4, %5, %6\n");
  EXPECT_TRUE(graph.oddities.empty());
  EXPECT_EQ(graph.printed_as, PrintedForm::kTorchtpuOps);
  EXPECT_EQ(graph.input_count, 2);
  EXPECT_EQ(graph.output_count, 3);
  ASSERT_EQ(graph.nodes.size(), 6u);
  EXPECT_EQ(graph.nodes[0].op, "parameter");
  EXPECT_EQ(graph.nodes[0].shape, "f32[64,10]");
  EXPECT_EQ(graph.nodes[1].shape, "s64[64]");
  EXPECT_EQ(graph.nodes[2].location, "train_step@/home/u/my train.py:15");
  EXPECT_EQ(graph.nodes[3].operands, "2,0,1");
  EXPECT_FALSE(graph.nodes[3].location.has_value());
  EXPECT_EQ(graph.nodes[4].shape, "(f32[64,64], f32[0])");
  EXPECT_EQ(graph.nodes[4].name, "4");
  EXPECT_EQ(graph.nodes[4].root, 0);
  EXPECT_EQ(graph.nodes[5].operands, "4.1");
  EXPECT_EQ(graph.nodes[5].root, 2);
}

TEST(TorchtpuOps, CountsWhatItCannotRead) {
  GraphText graph = ParseTorchtpuOps(
      "%0: f32[2] = input\n%1: f32[2] = relu(%7)\n%2 f32[2] = relu(%0)\n%3: f32[2] = relu(%0\nreturn");
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.oddities["unknown_operand"].count, 1);
  EXPECT_EQ(graph.oddities["unreadable_node"].count, 2);
  EXPECT_EQ(graph.output_count, 0);
}

}  // namespace
}  // namespace xlaprof
