// Tests StableHLO modules: operations on one line are read, the others are counted.
#include "profiler/import/graph/stablehlo_text.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

constexpr const char* kModule =
    R"(module @IrToHlo.12 attributes {mhlo.cross_program_prefetches = []} {
  func.func @main(%arg0: tensor<2x3xf32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<i1>) -> (tensor<1x3xf32>, tensor<i1>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32> loc(#loc3)
    %0 = stablehlo.slice %arg0 [1:2, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1x3xf32>, tensor<f32>) -> tensor<1xf32>
    %2:2 = "stablehlo.sort"(%0) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %9 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) {dimension = 0 : i64} : (tensor<1x3xf32>) -> tensor<1x3xf32>
    return %0, %arg1 : tensor<1x3xf32>, tensor<i1>
  }
}
)";

TEST(StableHloText, ReadsSimpleOperationsAndCountsTheRest) {
  GraphText graph = ParseStableHloText(kModule);
  EXPECT_EQ(graph.name, "IrToHlo.12");
  EXPECT_EQ(graph.input_count, 2);
  EXPECT_EQ(graph.output_count, 2);
  ASSERT_EQ(graph.nodes.size(), 5u);
  const auto& n = graph.nodes;
  EXPECT_EQ(n[0].op, "parameter");
  EXPECT_EQ(n[0].shape, "f32[2,3]");
  EXPECT_EQ(n[0].attributes, "parameter=0, sharding={replicated}");
  EXPECT_EQ(n[1].shape, "pred[]");
  EXPECT_EQ(n[1].attributes, "parameter=1");
  EXPECT_EQ(n[1].root, 1);
  EXPECT_EQ(n[2].op, "stablehlo.constant");
  EXPECT_EQ(n[2].attributes, "dense<1.000000e+00>");
  EXPECT_EQ(n[3].shape, "f32[1,3]");
  EXPECT_EQ(n[3].operands, "0");
  EXPECT_EQ(n[3].attributes, "[1:2, 0:3]");
  EXPECT_EQ(n[3].root, 0);
  EXPECT_EQ(n[4].operands, "3,2");
  EXPECT_GE(graph.oddities["unread_stablehlo"].count, 4);
}

// An array that was captured as a constant is printed as megabytes of digits.
TEST(StableHloText, LongLiteralsAreHashed) {
  auto literal = [](char last) {
    const std::string text =
        "module @jit_f {\n  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = "
        "#sdy.sharding<@mesh, [{\"data\"}, {}]>}) -> () {\n    %cst = stablehlo.constant "
        "dense<\"0x" +
        std::string(5000, '7') + last + "\"> : tensor<625xf32>\n  }\n}\n";
    return ParseStableHloText(text);
  };
  const GraphText one = literal('1'), other = literal('2');
  ASSERT_EQ(one.nodes.size(), 2u);
  EXPECT_EQ(one.nodes[0].attributes, "parameter=0, sharding=[{\"data\"}, {}]");
  EXPECT_EQ(one.nodes[1].attributes->size(), std::string("dense<#0123456789abcdef>").size());
  EXPECT_NE(one.nodes[1].attributes, other.nodes[1].attributes);
}

TEST(StableHloText, AnyCutEndsWell) {
  const std::string whole = kModule;
  for (size_t length = 0; length <= whole.size(); ++length) {
    ASSERT_LE(ParseStableHloText(std::string_view(whole).substr(0, length)).nodes.size(), 5u);
  }
}

}  // namespace
}  // namespace xlaprof
