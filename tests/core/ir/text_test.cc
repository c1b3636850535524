// Compares the whole texts of one small program, and tests what our own importers make of them.
#include "core/ir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ir/hlo_text.h"
#include "core/ir/stablehlo.h"
#include "profiler/import/graph/hlo_text.h"
#include "profiler/import/graph/ir_dot.h"
#include "profiler/import/graph/ir_text.h"
#include "profiler/import/graph/stablehlo_text.h"
#include "tests/core/ir/programs.h"

namespace xlaprof::lazy {
namespace {

using ::testing::HasSubstr;

// Builds what a training program does with a weight: w -= sum(x, 0) * 0.5. The weight's name and
// lines are in the texts below.
Program Step() {
  ProgramBuilder builder;
  ResetScopes();
#line 100 "/home/user/train/step.cc"
  const int32_t x = builder.Parameter({DType::kF32, {4, 3}});
  const int32_t w = builder.Parameter({DType::kF32, {3}});
  PushScope("update");
  const int32_t half = builder.Constant(0.5, DType::kF32);
  const int32_t factor = builder.Do(op::expand, {half}, {3});
  const int32_t sum = builder.Do(op::sum, {x}, {0, 0});
  PopScope();
  const int32_t change = builder.Do(op::mul, {sum, factor});
  const int32_t next = builder.Do(op::sub, {w, change});
#line 42 "text_test.cc"
  builder.program.results = {next, x};
  builder.program.donations = {{.parameter = 1, .result = 0}};
  builder.program.name = "SyncTensorsGraph.12";
  return builder.program;
}

TEST(IrText, IsTorchXlas) {
  EXPECT_EQ(IrText(Step()),
            "IR {\n"
            "  %0 = f32[4,3]{1,0} xla::device_data(), xla_shape=f32[4,3]{1,0}, ROOT=1\n"
            "  %1 = f32[3]{0} xla::device_data(), xla_shape=f32[3]{0}\n"
            "  %2 = f32[] prim::Constant(), xla_shape=f32[], value=0.5\n"
            "  %3 = f32[3]{0} aten::expand(%2), xla_shape=f32[3]{0}, size=(3)\n"
            "  %4 = f32[3]{0} aten::sum(%0), xla_shape=f32[3]{0}, keepdim=0, dims=(0)\n"
            "  %5 = f32[3]{0} aten::mul(%4, %3), xla_shape=f32[3]{0}\n"
            "  %6 = f32[3]{0} aten::sub(%1, %5), xla_shape=f32[3]{0}, ROOT=0\n"
            "}\n");
}

TEST(IrText, ShowsScopesAndLocationsWhenAsked) {
  const std::string text = IrText(Step(), {.debug = true});
  EXPECT_THAT(text, HasSubstr("  %4 = f32[3]{0} aten::sum(%0), scope=update.1, "
                              "location=Step@step.cc:105, xla_shape=f32[3]{0}, keepdim=0, "
                              "dims=(0)\n"));
  EXPECT_THAT(text, HasSubstr("  %5 = f32[3]{0} aten::mul(%4, %3), location=Step@step.cc:107, "
                              "xla_shape=f32[3]{0}\n"));
}

TEST(IrText, IsReadBack) {
  const GraphText graph = ParseIrText(IrText(Step(), {.debug = true}));
  EXPECT_TRUE(graph.oddities.empty());
  ASSERT_EQ(graph.nodes.size(), 7u);
  EXPECT_EQ(graph.nodes[4].attributes, "keepdim=0, dims=(0)");
  EXPECT_EQ(graph.nodes[4].scope, "update.1");
  EXPECT_EQ(graph.nodes[6].operands, "1,5");
  EXPECT_EQ(graph.nodes[6].root, 0);
  EXPECT_EQ(graph.output_count, 2);
}

TEST(AttributesText, NamesEachKind) {
  EXPECT_EQ(AttributesText(op::add, {}), "");
  EXPECT_EQ(AttributesText(op::slice, {1, 0, 8, 2}), "dim=1, start=0, end=8, step=2");
  EXPECT_EQ(AttributesText(op::cast, {int64_t(DType::kBF16)}), "dtype=bf16");
  EXPECT_EQ(AttributesText(op::pad, {AttributeOf(-1.5), 0, 2}), "value=-1.5, pad=(0, 2)");
  EXPECT_EQ(AttributesText(op::convolution, {2, 1, 0, 3, 1, 2, 4}),
            "stride=(2, 1), padding=(0, 3), dilation=(1, 2), groups=4");
  EXPECT_EQ(AttributesText(op::native_batch_norm, {AttributeOf(1e-5), 2}), "eps=1e-05, output=2");
  EXPECT_EQ(AttributesText(op::constant, {1, int64_t(DType::kI64)}), "value=1");
  EXPECT_EQ(AttributesText(op::constant, {AttributeOf(0.1), int64_t(DType::kF32)}), "value=0.1");
  EXPECT_EQ(AttributesText(op::view, {}), "output_size=()");
  EXPECT_EQ(AttributesText(op::arange, {AttributeOf(0), AttributeOf(2), 3, int64_t(DType::kI32)}),
            "start=0, step=2, count=3, dtype=s32");
}

TEST(DotText, IsTorchXlas) {
  ProgramBuilder builder;
  const int32_t a = builder.Parameter({DType::kF32, {2}});
  const int32_t b = builder.Do(op::neg, {a});
  builder.program.results = {builder.Do(op::add, {a, b})};
  const std::string text = DotText(builder.program);
  EXPECT_EQ(text,
            "digraph G {\n"
            "  node0 [label=\"xla::device_data\\nf32[2]{0}\\nxla_shape=f32[2]{0}\"]\n"
            "  node1 [label=\"aten::neg\\nf32[2]{0}\\nxla_shape=f32[2]{0}\"]\n"
            "  node2 [label=\"aten::add\\nf32[2]{0}\\nxla_shape=f32[2]{0}\\nROOT=0\"]\n"
            "  node0 -> node2 [label=\"i=0\"]\n"
            "  node1 -> node2 [label=\"i=1\"]\n"
            "  node0 -> node1\n"
            "}\n");
  const GraphText graph = ParseIrDot(text);
  EXPECT_TRUE(graph.oddities.empty());
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[1].operands, "0");
  EXPECT_EQ(graph.nodes[2].operands, "0,1");
}

TEST(StableHloText, IsOneFunction) {
  const std::string text = StableHloText(Step());
  // Compilers name different columns of a call.
  EXPECT_THAT(text, HasSubstr("module @\"SyncTensorsGraph.12\" {\n"
                              "  func.func public @main(%p0: tensor<4x3xf32> "
                              "loc(\"xla__device_data\"(\"/home/user/train/step.cc\":100:"));
  EXPECT_THAT(text, HasSubstr(")), %p1: tensor<3xf32> {tf.aliasing_output = 0 : i32} "
                              "loc(\"xla__device_data\"(\"/home/user/train/step.cc\":101:"));
  EXPECT_THAT(text, HasSubstr("-> (tensor<3xf32>, tensor<4x3xf32>) {\n"
                              "    %0 = stablehlo.constant dense<0.5> : tensor<f32> "
                              "loc(\"update.1/prim__Constant\"(\"/home/user/train/step.cc\":103:"));
  EXPECT_THAT(text, HasSubstr("    %1 = stablehlo.broadcast_in_dim %0, dims = [] : "
                              "(tensor<f32>) -> tensor<3xf32> loc(\"update.1/aten__expand\"("));
  EXPECT_THAT(text, HasSubstr("    %3 = stablehlo.reduce(%p0 init: %2) applies stablehlo.add "
                              "across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> "
                              "tensor<3xf32> loc("));
  EXPECT_THAT(text, HasSubstr("    %4 = stablehlo.multiply %3, %1 : tensor<3xf32> loc("));
  EXPECT_THAT(text, HasSubstr("    return %5, %p0 : tensor<3xf32>, tensor<4x3xf32>\n  }\n}\n"));
}

// Builds a program with two of an operation's outputs, one of which is used further.
Program Normed() {
  ProgramBuilder builder;
  const int32_t x = builder.Parameter({DType::kF32, {8, 2}});
  const int32_t weight = builder.Parameter({DType::kF32, {2}});
  const int32_t bias = builder.Parameter({DType::kF32, {2}});
  const int32_t out = builder.Do(op::native_batch_norm, {x, weight, bias}, {AttributeOf(0.25), 0});
  const int32_t mean = builder.Do(op::native_batch_norm, {x, weight, bias}, {AttributeOf(0.25), 1});
  builder.program.results = {out, builder.Do(op::neg, {mean})};
  return builder.program;
}

TEST(StableHloText, HasOutputsOfOneOperation) {
  const std::string text = StableHloText(Normed());
  EXPECT_THAT(text, HasSubstr("    %0:3 = \"stablehlo.batch_norm_training\"(%p0, %p1, %p2) "
                              "{epsilon = 0.25 : f32, feature_index = 1 : i64} : (tensor<8x2xf32>, "
                              "tensor<2xf32>, tensor<2xf32>) -> (tensor<8x2xf32>, tensor<2xf32>, "
                              "tensor<2xf32>) loc("));
  EXPECT_THAT(text, HasSubstr("    %1 = stablehlo.negate %0#1 : tensor<2xf32> loc("));
  EXPECT_THAT(text, HasSubstr("    return %0#0, %1 : tensor<8x2xf32>, tensor<2xf32>\n"));
  const GraphText graph = ParseStableHloText(text);
  EXPECT_TRUE(graph.oddities.empty());
  ASSERT_EQ(graph.nodes.size(), 5u);
  EXPECT_EQ(graph.nodes[3].operands, "0,1,2");
  EXPECT_EQ(graph.nodes[4].operands, "3.1");
}

TEST(StableHloText, IsReadBack) {
  const GraphText graph = ParseStableHloText(StableHloText(Step()));
  EXPECT_TRUE(graph.oddities.empty());
  EXPECT_EQ(graph.input_count, 2);
  EXPECT_EQ(graph.output_count, 2);
  ASSERT_EQ(graph.nodes.size(), 8u);
  EXPECT_EQ(graph.nodes[7].op, "stablehlo.subtract");
  EXPECT_EQ(graph.nodes[7].operands, "1,6");
}

TEST(HloText, IsXlas) {
  EXPECT_EQ(HloText(Step()),
            "HloModule SyncTensorsGraph.12, input_output_alias={ {0}: (1, {}, may-alias) }, "
            "entry_computation_layout={(f32[4,3]{1,0}, f32[3]{0})->(f32[3]{0}, f32[4,3]{1,0})}\n"
            "\n"
            "%add_f32 (a: f32[], b: f32[]) -> f32[] {\n"
            "  %a = f32[] parameter(0)\n"
            "  %b = f32[] parameter(1)\n"
            "  ROOT %add = f32[] add(f32[] %a, f32[] %b)\n"
            "}\n"
            "\n"
            "ENTRY %SyncTensorsGraph.12 (p0.1: f32[4,3], p1.2: f32[3]) -> (f32[3], f32[4,3]) {\n"
            "  %p0.1 = f32[4,3]{1,0} parameter(0)\n"
            "  %p1.2 = f32[3]{0} parameter(1)\n"
            "  %constant.3 = f32[] constant(0.5)\n"
            "  %broadcast.4 = f32[3]{0} broadcast(f32[] %constant.3), dimensions={}\n"
            "  %constant.5 = f32[] constant(0)\n"
            "  %reduce.6 = f32[3]{0} reduce(f32[4,3]{1,0} %p0.1, f32[] %constant.5), "
            "dimensions={0}, to_apply=%add_f32\n"
            "  %multiply.7 = f32[3]{0} multiply(f32[3]{0} %reduce.6, f32[3]{0} %broadcast.4)\n"
            "  %subtract.8 = f32[3]{0} subtract(f32[3]{0} %p1.2, f32[3]{0} %multiply.7)\n"
            "  ROOT %tuple.9 = (f32[3]{0}, f32[4,3]{1,0}) tuple(f32[3]{0} %subtract.8, "
            "f32[4,3]{1,0} %p0.1)\n"
            "}\n");
}

// XLA may compute a number twice, with different rounding, so the place of a maximum is not found
// by comparing the numbers with their maximum.
TEST(HloText, FindsPlacesOfMaximaTogetherWithThem) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kI64}) {
    ProgramBuilder builder;
    const int32_t x = builder.Parameter({type, {1, 2, 4, 4}});
    builder.Result(builder.Do(op::argmax, {x}, {0, 3}));
    if (IsFloat(type)) {
      const Attributes window{2, 2, 2, 2, 0, 0};
      const int32_t pooled = builder.Do(op::max_pool2d, {x}, window);
      builder.Result(builder.Do(op::max_pool2d_backward, {pooled, x}, window));
    }
    const std::string text = HloText(builder.program);
    EXPECT_THAT(text, HasSubstr("to_apply=%largest_" + std::string(XlaName(type)) + "_s64"));
    const std::string entry = text.substr(text.find("ENTRY"));
    EXPECT_EQ(entry.find(" compare(" + std::string(XlaName(type)) + "["), std::string::npos)
        << entry;
  }
}

TEST(HloText, HasATupleOfOutputs) {
  const std::string text = HloText(Normed());
  EXPECT_THAT(
      text, HasSubstr("  %batch-norm-training.4 = (f32[8,2]{1,0}, f32[2]{0}, f32[2]{0}) "
                      "batch-norm-training(f32[8,2]{1,0} %p0.1, f32[2]{0} %p1.2, f32[2]{0} %p2.3), "
                      "epsilon=0.25, feature_index=1\n"));
  EXPECT_THAT(text,
              HasSubstr("  %get-tuple-element.6 = f32[2]{0} get-tuple-element((f32[8,2]{1,0}, "
                        "f32[2]{0}, f32[2]{0}) %batch-norm-training.4), index=1\n"));
  const GraphText graph = ParseHloText(text);
  EXPECT_TRUE(graph.oddities.empty());
  ASSERT_EQ(graph.nodes.size(), 8u);
  EXPECT_EQ(graph.nodes[5].operands, "3");
}

TEST(HloText, IsReadBack) {
  const std::string text = HloText(Step(), {.debug = true});
  EXPECT_THAT(text, HasSubstr(", metadata={op_type=\"aten__sum\" op_name=\"update.1/aten__sum\" "
                              "source_file=\"/home/user/train/step.cc\" source_line=105}\n"));
  const GraphText graph = ParseHloText(text);
  EXPECT_TRUE(graph.oddities.empty());
  EXPECT_EQ(graph.name, "SyncTensorsGraph.12");
  EXPECT_EQ(graph.input_count, 2);
  EXPECT_EQ(graph.output_count, 2);
  ASSERT_EQ(graph.nodes.size(), 12u);
  EXPECT_EQ(graph.nodes[8].op, "reduce");
  EXPECT_EQ(graph.nodes[8].scope, "update.1");
  EXPECT_THAT(*graph.nodes[8].location, HasSubstr("step.cc:105"));
}

}  // namespace
}  // namespace xlaprof::lazy
