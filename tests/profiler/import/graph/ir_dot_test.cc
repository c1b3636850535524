// Tests torch_xla's dot form of a lazy graph.
#include "profiler/import/graph/ir_dot.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

constexpr const char* kGraph = R"(digraph G {
  node0 [label="xla::device_data\nf32[2]{0}\nscope=train.1\nlocation=f@model.py:3\nxla_shape=f32[2]{0}"]
  node1 [label="aten::topk\n(f32[2]{0}, s64[2]{0})\nnum_outputs=2\nxla_shape=(f32[2]{0}, s64[...\nk=2"]
  node2 [label="aten::add\nf32[2]{0}\nxla_shape=f32[2]{0}\nROOT=1"]
  node1 -> node2 [label="i=1,o=0"]
  node0 -> node2 [label="i=0"]
  node0 -> node1
}
)";

TEST(IrDot, ReadsNodesAndEdges) {
  GraphText graph = ParseIrDot(kGraph);
  EXPECT_TRUE(graph.oddities.empty());
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].op, "xla::device_data");
  EXPECT_EQ(graph.nodes[0].scope, "train.1");
  EXPECT_EQ(graph.nodes[0].location, "f@model.py:3");
  EXPECT_EQ(graph.nodes[0].attributes, OptText());
  EXPECT_EQ(graph.nodes[1].shape, "(f32[2]{0}, s64[2]{0})");
  EXPECT_EQ(graph.nodes[1].attributes, "k=2");
  EXPECT_EQ(graph.nodes[1].operands, "0");
  EXPECT_EQ(graph.nodes[2].operands, "0,1.0");
  EXPECT_EQ(graph.nodes[2].root, 1);
  EXPECT_EQ(graph.output_count, 1);
}

TEST(IrDot, SaysWhatIsCutOrWrong) {
  GraphText graph = ParseIrDot(
      "digraph G {\n  node0 [label=\"aten::x\\nf32[]\\nsize=1, 2, 3...\"]\n  node0 -> node7\n  "
      "node8 -> node0\n  node0 -> node0\n  what\n  node1 [label=\"");
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].operands, "");
  EXPECT_EQ(graph.oddities["cut_labels"].count, 1);
  EXPECT_EQ(graph.oddities["unknown_operand"].count, 3);
  EXPECT_EQ(graph.oddities["unreadable_node"].count, 2);
}

TEST(IrDot, AnyCutEndsWell) {
  const std::string whole = kGraph;
  for (size_t length = 0; length <= whole.size(); ++length) {
    ASSERT_LE(ParseIrDot(std::string_view(whole).substr(0, length)).nodes.size(), 3u);
  }
}

}  // namespace
}  // namespace xlaprof
