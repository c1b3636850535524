#include "analyzers/graph/kept_inputs.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

KeptInputs KeptOf(const TestNodes& nodes) {
  return KeptInputsOf(TestGraph(nodes, PrintedForm::kHloOptimized));
}

constexpr const char* kW = "f32[400,64]{1,0}";

// Returns a step of gradient descent: w - 0.1 * gradient, in one fusion, and the gradient, which a
// matrix product makes.
TestNodes DescentStep() {
  return {{.op = "parameter", .shape = kW, .attributes = "parameter=0", .computation = "fused"},
          {.op = "parameter", .shape = kW, .attributes = "parameter=1", .computation = "fused"},
          {.op = "subtract", .shape = kW, .operands = "0,1", .computation = "fused"},
          {.op = "parameter", .shape = kW, .attributes = "parameter=0, argument=\"w\""},
          {.op = "parameter", .shape = "f32[64,64]{1,0}", .attributes = "parameter=1"},
          {.op = "dot", .shape = kW, .operands = "3,4"},
          {.op = "fusion", .shape = kW, .operands = "3,5", .attributes = "calls=0"},
          {.op = "tuple",
           .shape = "(f32[400,64]{1,0}, f32[400,64]{1,0})",
           .operands = "6,5",
           .root = 0}};
}

TEST(KeptInputs, AParameterThatAFusionReplaces) {
  const KeptInputs kept = KeptOf(DescentStep());
  ASSERT_EQ(kept.inputs.size(), 1u);
  EXPECT_EQ(kept.inputs[0].parameter, 0);
  EXPECT_EQ(kept.inputs[0].result, 0);
  EXPECT_EQ(kept.inputs[0].argument, "w");
  EXPECT_EQ(kept.inputs[0].shape, "f32[400,64]");
  EXPECT_EQ(kept.bytes(), 400 * 64 * 4);
  EXPECT_EQ(kept.parameter_bytes, 400 * 64 * 4 + 64 * 64 * 4);
}

// The product of a parameter and another one is no new value of it.
TEST(KeptInputs, AProductIsNone) {
  TestNodes nodes = DescentStep();
  nodes[7] = {.op = "tuple", .shape = "(f32[400,64]{1,0})", .operands = "5", .root = 0};
  EXPECT_TRUE(KeptOf(nodes).inputs.empty());
}

TEST(KeptInputs, ADonatedParameterOrResultIsNone) {
  TestNodes nodes = DescentStep();
  nodes[3].attributes = "parameter=0, donated=0";
  EXPECT_TRUE(KeptOf(nodes).inputs.empty());
  nodes[3].attributes = "parameter=0, donated=none";
  EXPECT_TRUE(KeptOf(nodes).inputs.empty());
  nodes = DescentStep();
  nodes[4].attributes = "parameter=1, donated=0";  // the new value is in another one's memory
  EXPECT_TRUE(KeptOf(nodes).inputs.empty());
}

// The new weights depend on weights and momentum, and the new momentum only on momentum.
TEST(KeptInputs, EachResultReplacesItsOwnParameter) {
  const char* both = "(f32[400,64]{1,0}, f32[400,64]{1,0})";
  TestNodes nodes = {{.op = "parameter", .shape = kW, .attributes = "parameter=0"},
                     {.op = "parameter", .shape = kW, .attributes = "parameter=1"},
                     {.op = "negate", .shape = kW, .operands = "1"},
                     {.op = "add", .shape = kW, .operands = "0,2"},
                     {.op = "tuple", .shape = both, .operands = "3,2", .root = 0}};
  const KeptInputs kept = KeptOf(nodes);
  ASSERT_EQ(kept.inputs.size(), 2u);
  EXPECT_EQ(kept.inputs[0].parameter, 0);
  EXPECT_EQ(kept.inputs[0].result, 0);
  EXPECT_EQ(kept.inputs[1].result, 1);
  nodes[4] = {.op = "negate", .shape = kW, .operands = "3", .root = 0};  // an average of both
  EXPECT_TRUE(KeptOf(nodes).inputs.empty());
}

TEST(KeptInputs, AFusionWithoutItsComputationIsNone) {
  TestNodes nodes = DescentStep();
  nodes[6].attributes = "calls=fused";
  EXPECT_TRUE(KeptOf(nodes).inputs.empty());
}

// A fusion may make several results. Each takes the value that it replaces.
TEST(KeptInputs, AFusionOfSeveralResults) {
  const char* both = "(f32[400,64]{1,0}, f32[400,64]{1,0})";
  const TestNodes nodes = {
      {.op = "parameter", .shape = kW, .attributes = "parameter=0", .computation = "fused"},
      {.op = "parameter", .shape = kW, .attributes = "parameter=1", .computation = "fused"},
      {.op = "negate", .shape = kW, .operands = "0", .computation = "fused"},
      {.op = "negate", .shape = kW, .operands = "1", .computation = "fused"},
      {.op = "tuple", .shape = both, .operands = "3,2", .computation = "fused"},
      {.op = "parameter", .shape = kW, .attributes = "parameter=0"},
      {.op = "parameter", .shape = kW, .attributes = "parameter=1"},
      {.op = "fusion", .shape = both, .operands = "5,6", .attributes = "calls=0", .root = 0}};
  const KeptInputs kept = KeptOf(nodes);
  ASSERT_EQ(kept.inputs.size(), 2u);
  EXPECT_EQ(kept.inputs[0].parameter, 0);
  EXPECT_EQ(kept.inputs[0].result, 1);
  EXPECT_EQ(kept.inputs[1].parameter, 1);
  EXPECT_EQ(kept.inputs[1].result, 0);
}

// A parameter that is returned as it is, or in another element type, is not replaced.
TEST(KeptInputs, AnUnchangedParameterOrAnotherTypeIsNone) {
  TestNodes nodes = {
      {.op = "parameter", .shape = kW, .attributes = "parameter=0"},
      {.op = "tuple", .shape = "(f32[400,64]{1,0})", .operands = "0", .root = 0}};
  EXPECT_TRUE(KeptOf(nodes).inputs.empty());
  nodes[1] = {.op = "convert", .shape = "bf16[400,64]{1,0}", .operands = "0", .root = 0};
  EXPECT_TRUE(KeptOf(nodes).inputs.empty());
  EXPECT_TRUE(KeptOf({}).inputs.empty());
}

}  // namespace
}  // namespace xlaprof
