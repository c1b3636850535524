// Tests torch_xla's text of lazy graphs, from current and older versions, whole and damaged.
#include "profiler/import/graph/ir_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(IrText, ReadsEachPartOfANode) {
  GraphText graph = ParseIrText(
      "IR {\n"
      "  %0 = f32[64,10,24,24]{3,2,1,0} xla::device_data(), scope=train.1/fwd.1, "
      "location=_conv_forward@conv.py:543, "
      "xla_shape=f32[64,10,24,24]{3,2,1,0}\n"
      "  %1 = (f32[64,10]{1,0}, u32[64,10]{1,0}) aten::max_pool2d(%0), num_outputs=2, "
      "xla_shape=(f32[64,10]{1,0}, u32[64,10]{1,0})\n"
      "  %2 = f32[64,10]{1,0} aten::add(%1.0, %1.1), xla_shape=f32[64,10]{1,0}, ROOT=1\n"
      "}\n");
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_TRUE(graph.oddities.empty());
  EXPECT_TRUE(graph.shows_debug);
  EXPECT_EQ(graph.output_count, 1);
  EXPECT_EQ(graph.input_count,
            OptInt());  // device_data nodes may share a buffer and therefore a parameter
  const GraphNodeRow &input = graph.nodes[0], &pool = graph.nodes[1], &sum = graph.nodes[2];
  EXPECT_EQ(input.op, "xla::device_data");
  EXPECT_EQ(input.shape, "f32[64,10,24,24]{3,2,1,0}");
  EXPECT_EQ(input.scope, "train.1/fwd.1");
  EXPECT_EQ(input.location, "_conv_forward@conv.py:543");
  EXPECT_EQ(input.attributes, OptText());
  EXPECT_EQ(input.name, "0");
  EXPECT_EQ(pool.shape, "(f32[64,10]{1,0}, u32[64,10]{1,0})");
  EXPECT_EQ(pool.operands, "0");
  EXPECT_EQ(pool.attributes, OptText());
  EXPECT_EQ(sum.operands, "1.0,1.1");
  EXPECT_EQ(sum.root, 1);
  EXPECT_EQ(pool.root, OptInt());
}

TEST(IrText, KeepsAttributesOfOlderVersions) {
  GraphText graph = ParseIrText(
      "IR {\r\n"
      "  %0 = f32[] prim::Constant(), value=1\r\n"
      "  %7 = f32[128]{0} xla::cross_replica_sum(%0), scale=0.125, groups=()\r\n"
      "  %9 = f32[2]{0} aten::pad(%7), device=TPU:0, size=(1, 2), xla_shape=f32[<=2]{0}, "
      "dynamic_dims: (false, true), ROOT=0\r\n"
      "}\r\n");
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].attributes, "value=1");
  EXPECT_EQ(graph.nodes[1].attributes, "scale=0.125, groups=()");
  EXPECT_EQ(graph.nodes[2].attributes,
            "device=TPU:0, size=(1, 2), xla_shape=f32[<=2]{0}, dynamic_dims=(false, true)");
  EXPECT_EQ(graph.nodes[2].operands, "1");
  EXPECT_FALSE(graph.shows_debug);
  EXPECT_TRUE(graph.oddities.empty());
}

TEST(IrText, OddPathsDoNotHideWhatFollows) {
  GraphText graph = ParseIrText(
      "IR {\n  %0 = f32[] aten::rand(), location=<lambda>@a(b.py:3, xla_shape=f32[], ROOT=0\n}\n");
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].location, "<lambda>@a(b.py:3");
  EXPECT_EQ(graph.nodes[0].root, 0);
}

// Regression: each unpaired bracket was searched for up to the end of the line, so 1.3 MB took
// minutes.
TEST(IrText, UnpairedBracketsCostALineOnce) {
  std::string text = "IR {\n  %0 = f32[] aten::rand()";
  for (int i = 0; i < 100'000; ++i) text += ", xla_shape=(";
  GraphText graph = ParseIrText(text + ", location=f@a.py:3, ROOT=0\n}\n");
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].location, "f@a.py:3");
  EXPECT_EQ(graph.nodes[0].root, 0);
}

TEST(IrText, CountsWhatItCannotBelieve) {
  GraphText graph = ParseIrText(
      "IR {\n"
      "  %0 = f32[] aten::add(%1, %5, %0)\n"  // none of these is printed earlier
      "  %0 = f32[] aten::mul(%0)\n"
      "  garbage\n"
      "  %2 = f32[] aten::mu");
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].operands, "");
  EXPECT_EQ(graph.nodes[1].operands, "0");
  EXPECT_EQ(graph.oddities["unknown_operand"].count, 3);
  EXPECT_EQ(graph.oddities["repeated_name"].count, 1);
  EXPECT_EQ(graph.oddities["unreadable_node"].count, 2);
  EXPECT_EQ(graph.oddities["unreadable_node"].line, 3);
}

TEST(IrText, HasSameContentIfOnlyScopesAndPlacesDiffer) {
  const auto text = [](std::string_view end) {
    return fmt::format("IR {{\n  %0 = f32[] xla::device_data()\n  %1 = f32[] {}\n}}\n", end);
  };
  struct Case {
    const char *a, *b;
    bool is_same;
  };
  const Case kCases[] = {
      {"aten::neg(%0), scope=neg.1, ROOT=0", "aten::neg(%0), scope=neg.2, ROOT=0", true},
      {"aten::neg(%0), scope=a, location=f@a(b.py:3, xla_shape=f32[]",
       "aten::neg(%0), xla_shape=f32[]", true},
      {"aten::neg(%0), a=(1, scope=x)", "aten::neg(%0), a=(1, scope=y)", false},
      {"aten::neg(%0), scope=a, value=1", "aten::neg(%0), scope=a, value=2", false},
      {"aten::neg(%0), ROOT=0", "aten::neg(%0)", false},
      {"aten::neg(%0)", "aten::neg(%1)", false},
      {"aten::neg(%0)", "aten::abs(%0)", false},
      {"aten::neg(%0)\n  %2 = f32[2] aten::x()", "aten::neg(%0)\n  %2 = f32[3] aten::x()", false},
      {"aten::neg(%0)", "aten::neg(%0)\n  %2 = f32[] aten::x()", false},
      {"aten::neg(%0)\n  garbage", "aten::neg(%0)\n  %2 = f32[] aten::x()", false},
  };
  for (const auto& [a, b, is_same] : kCases) {
    EXPECT_EQ(HaveSameIrContent(text(a), text(b)), is_same) << a << "\n" << b;
    EXPECT_EQ(HaveSameIrContent(text(b), text(a)), is_same) << a << "\n" << b;
    EXPECT_EQ(ContentHash(ParseIrText(text(a))) == ContentHash(ParseIrText(text(b))), is_same)
        << a << "\n" << b;
  }
}

TEST(IrText, AnyCutEndsWell) {
  const std::string whole =
      "IR {\n  %0 = (f32[2]{0}, s64[]) aten::topk(), num_outputs=2, scope=a.1, location=f@x.py:1, "
      "xla_shape=(f32[2]{0}, s64[])\n"
      "  %1 = f32[2]{0} aten::neg(%0.0), xla_shape=f32[2]{0}, ROOT=0\n}\n";
  for (size_t length = 0; length <= whole.size(); ++length) {
    GraphText graph = ParseIrText(whole.substr(0, length));
    ASSERT_LE(graph.nodes.size(), 2u) << length;
  }
}

TEST(IrText, DeepBracketsAndLongLines) {
  const std::string deep(200'000, '(');
  GraphText graph = ParseIrText("IR {\n  %0 = f32[] aten::x(), a=" + deep + "\n  %1 = " + deep +
                                " aten::y()\n  %2 = f32[] aten::z(" + deep +
                                ")\n  %3 = f32[] aten::ok(), b=1\n}\n");
  ASSERT_FALSE(graph.nodes.empty());
  EXPECT_EQ(graph.nodes.back().op, "aten::ok");
  std::string line = "IR {\n  %0 = f32[] aten::x()";
  while (line.size() < 4'000'000) line += ", key=value";
  EXPECT_EQ(ParseIrText(line + "\n}\n").nodes.size(), 1u);
}

// torch_xla hashes what is computed: the graph is the same if one trace shares a value and another
// computes it twice.
TEST(ContentHash, FollowsWhatIsComputed) {
  auto hash = [](const std::string& nodes) {
    return ContentHash(ParseIrText("IR {\n" + nodes + "}\n"));
  };
  const std::string shared =
      "  %0 = f32[2]{0} xla::device_data(), location=a@a.py:1\n  %1 = f32[2]{0} aten::neg(%0)\n  "
      "%2 = f32[2]{0} aten::add(%1, %1), ROOT=0\n";
  const std::string twice =
      "  %0 = f32[2]{0} xla::device_data(), location=b@b.py:2\n  %1 = f32[2]{0} aten::neg(%0)\n  "
      "%2 = f32[2]{0} aten::neg(%0)\n"
      "  %3 = f32[2]{0} aten::add(%2, %1), ROOT=0\n";
  EXPECT_EQ(hash(shared), hash(twice));
  const std::string other =
      "  %0 = f32[2]{0} xla::device_data()\n  %1 = f32[2]{0} aten::neg(%0)\n  %2 = f32[2]{0} "
      "aten::add(%1, %0), ROOT=0\n";
  EXPECT_NE(hash(shared), hash(other));
  const std::string attribute =
      "  %0 = f32[2]{0} xla::device_data()\n  %1 = f32[2]{0} aten::neg(%0), a=1\n  %2 = f32[2]{0} "
      "aten::add(%1, %1), ROOT=0\n";
  EXPECT_NE(hash(shared), hash(attribute));
}

}  // namespace
}  // namespace xlaprof
