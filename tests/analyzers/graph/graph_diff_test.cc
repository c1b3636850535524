#include "analyzers/graph/graph_diff.h"

#include <gtest/gtest.h>

#include "analyzers/graph/graph_align.h"
#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_fold.h"
#include "analyzers/graph/loop_count.h"
#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

GraphDiff DiffOf(const TestNodes& before, const TestNodes& after,
                 PrintedForm form = PrintedForm::kIrText) {
  return Diff(TestGraph(before, form), TestGraph(after, form));
}

ReasonType TypeOf(const TestNodes& before, const TestNodes& after,
                  PrintedForm form = PrintedForm::kIrText) {
  const GraphDiff diff = DiffOf(before, after, form);
  return diff.origins.empty() ? ReasonType::kUnknown : diff.origins.front().type;
}

// Returns a graph that computes x = tanh(x @ w) `turns` times and has one result.
TestNodes Unrolled(int turns) {
  TestNodes nodes = {{.op = "xla::device_data", .shape = "f32[4,4]"},
                     {.op = "xla::device_data", .shape = "f32[4,4]"}};
  int x = 0;
  for (int i = 0; i < turns; ++i) {
    nodes.push_back({.op = "aten::mm", .shape = "f32[4,4]", .operands = std::to_string(x) + ",1"});
    nodes.push_back(
        {.op = "aten::tanh", .shape = "f32[4,4]", .operands = std::to_string(nodes.size() - 1)});
    x = static_cast<int>(nodes.size()) - 1;
  }
  nodes.push_back({.op = "aten::sum", .shape = "f32[]", .operands = std::to_string(x), .root = 0});
  return nodes;
}

// Returns a step of an optimizer with two parameters, whose state the first step fills with zeros.
TestNodes OptimizerStep(bool is_first) {
  TestNodes nodes = {{.op = "xla::device_data", .shape = "f32[8]"},
                     {.op = "xla::device_data", .shape = "f32[4,8]"},
                     {.op = "prim::Constant", .shape = "f32[]"}};
  for (const int parameter : {0, 1}) {
    const std::string shape = parameter == 0 ? "f32[8]" : "f32[4,8]";
    nodes.push_back(is_first ? TestNode{.op = "aten::expand", .shape = shape, .operands = "2"}
                             : TestNode{.op = "xla::device_data", .shape = shape});
    nodes.push_back({.op = "aten::mul",
                     .shape = shape,
                     .operands = fmt::format("{},{}", parameter, nodes.size() - 1),
                     .root = parameter});
  }
  return nodes;
}

TEST(GraphDiff, StateThatTheFirstStepMakesIsAnInputLater) {
  const GraphDiff diff = DiffOf(OptimizerStep(true), OptimizerStep(false));
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_TRUE(diff.origins.front().is_new_state);
  EXPECT_FALSE(DiffOf(OptimizerStep(false), OptimizerStep(true)).origins.front().is_new_state);
}

// Returns a step of SGD with momentum. The first step keeps the gradients as its state; one node is
// then two results, and is printed as the second of them.
TestNodes MomentumStep(bool is_first) {
  TestNodes nodes = {{.op = "xla::device_data", .shape = "f32[]"}};
  for (const int parameter : {0, 1}) {
    const std::string shape = parameter == 0 ? "f32[8]" : "f32[4,8]";
    const int first = static_cast<int>(nodes.size());
    nodes.push_back({.op = "xla::device_data", .shape = shape});
    nodes.push_back({.op = "aten::exp",
                     .shape = shape,
                     .operands = std::to_string(first),
                     .root = is_first ? 2 + parameter : parameter});
    if (is_first) continue;
    nodes.push_back(
        {.op = "xla::device_data", .shape = shape, .location = "_single_tensor_sgd@sgd.py:361"});
    nodes.push_back(
        {.op = "aten::mul", .shape = shape, .operands = fmt::format("{},0", first + 2)});
    nodes.push_back({.op = "aten::add",
                     .shape = shape,
                     .operands = fmt::format("{},{}", first + 3, first + 1),
                     .root = 2 + parameter});
  }
  return nodes;
}

TEST(GraphDiff, StateIsNewInTheFirstStepsOnly) {
  const GraphDiff diff = Diff(TestGraph(OptimizerStep(true)), TestGraph(OptimizerStep(false)),
                              NewStateIs::kImpossible);
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins.front().type, ReasonType::kOpChange);
  EXPECT_FALSE(diff.origins.front().is_new_state);
}

TEST(GraphDiff, MomentumThatTheFirstStepMakesIsTheStateOfAnOptimizer) {
  const GraphDiff diff = DiffOf(MomentumStep(true), MomentumStep(false));
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_TRUE(diff.origins.front().is_new_state);
  EXPECT_TRUE(diff.origins.front().is_of_optimizer);
}

// A teacher that only some steps compute is no state: its weights are read, and not updated.
TEST(GraphDiff, WeightsThatOnlySomeStepsReadAreNoState) {
  auto graph = [](bool with_teacher) {
    TestNodes nodes = {{.op = "xla::device_data", .shape = "f32[8,8]"},
                       {.op = "xla::device_data", .shape = "f32[8,8]"},
                       {.op = "aten::mm", .shape = "f32[8,8]", .operands = "0,1"}};
    int last = 2;
    for (int i = 0; with_teacher && i < 2; ++i) {
      nodes.push_back({.op = "xla::device_data", .shape = "f32[8,8]"});
      nodes.push_back({.op = "aten::mm",
                       .shape = "f32[8,8]",
                       .operands = fmt::format("{},{}", last, nodes.size() - 1)});
      last = static_cast<int>(nodes.size()) - 1;
    }
    nodes.push_back(
        {.op = "aten::tanh", .shape = "f32[8,8]", .operands = std::to_string(last), .root = 0});
    return nodes;
  };
  const GraphDiff diff = DiffOf(graph(false), graph(true));
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_FALSE(diff.origins.front().is_new_state);
}

// Returns a loss of two terms. The weight of the second is an input, or a constant if it is 1. Each
// use of a scalar is a node of its own in text IR, but one parameter in HLO.
TestNodes WeightedLoss(bool is_constant, PrintedForm form) {
  const bool is_text = form == PrintedForm::kIrText;
  const TestNode constant{.op = is_text ? "prim::Constant" : "constant",
                          .shape = "f32[]",
                          .attributes = is_text ? "" : "literal=1",
                          .location = "loss@train.py:29"};
  const TestNode input{.op = is_text ? "xla::device_data" : "parameter",
                       .shape = "f32[]",
                       .location = "loss@train.py:29"};
  TestNodes nodes = {{.op = input.op, .shape = "f32[]", .location = "main@train.py:12"},
                     {.op = input.op, .shape = "f32[8]"},
                     is_constant ? constant : input};
  int second = 2;
  if (is_text || is_constant) nodes.push_back(nodes[2]), second = 3;
  const int at = static_cast<int>(nodes.size());
  nodes.push_back({.op = "multiply", .shape = "f32[]", .operands = "0,2", .root = 0});
  nodes.push_back({.op = "multiply",
                   .shape = "f32[]",
                   .operands = fmt::format("{},{}", at, second),
                   .root = 1});
  return nodes;
}

TEST(GraphDiff, AScalarThatBecomesOneIsAConstant) {
  for (const PrintedForm form : {PrintedForm::kIrText, PrintedForm::kHlo}) {
    for (const bool from_constant : {false, true}) {
      const GraphDiff diff =
          DiffOf(WeightedLoss(from_constant, form), WeightedLoss(!from_constant, form), form);
      ASSERT_EQ(diff.origins.size(), 1);
      EXPECT_EQ(diff.origins[0].type, ReasonType::kConstantChange);
      EXPECT_TRUE(diff.origins[0].is_scalar_or_input);
      // Text IR of torch_xla 2.9 prints no value.
      EXPECT_EQ(diff.origins[0].has_equal_scalar.has_value(), form == PrintedForm::kHlo);
      EXPECT_EQ(TestGraph(WeightedLoss(!from_constant, form), form)
                    .nodes[size_t(diff.origins[0].node_index)]
                    .location,
                "loss@train.py:29");
    }
  }
}

// Numbers of a list are stacked. Those that are 0 or 1 are constants, and equal ones are one input.
TEST(GraphDiff, NumbersOfAListThatAreZeroOrOneAreConstants) {
  // `numbers` has a 'c' for each constant, and an 'i' for each input.
  auto graph = [](std::string_view numbers) {
    TestNodes nodes;
    std::string all;
    for (size_t i = 0; i < numbers.size(); ++i) {
      nodes.push_back({.op = numbers[i] == 'c' ? "prim::Constant" : "xla::device_data",
                       .shape = "f32[]",
                       .location = "batch@batching.py:23"});
      all += fmt::format("{}{}", i == 0 ? "" : ",", i);
    }
    nodes.push_back({.op = "aten::stack", .shape = "f32[8]", .operands = all, .root = 0});
    return nodes;
  };
  for (const auto& [before, after] : {std::pair("iiii", "icii"), std::pair("icii", "iiic"),
                                      std::pair("cici", "iiii"), std::pair("iii", "iciii")}) {
    const GraphDiff diff = DiffOf(graph(before), graph(after));
    ASSERT_FALSE(diff.origins.empty());
    EXPECT_EQ(diff.origins.front().type, ReasonType::kConstantChange) << before << after;
    EXPECT_TRUE(diff.origins.front().is_scalar_or_input) << before << after;
  }
}

TEST(GraphDiff, OptimisedHloWithoutAScalarSharesItOrMadeItAConstant) {
  // Two losses, each times its weight. `weights` are inputs; XLA drops a product with 1.
  auto graph = [](int weights, int products) {
    TestNodes nodes = {{.op = "parameter", .shape = "f32[4]", .attributes = "parameter=0"}};
    for (int i = 0; i < weights; ++i)
      nodes.push_back({.op = "parameter",
                       .shape = "f32[]",
                       .attributes = fmt::format("parameter={}", i + 1),
                       .location = "loss@train.py:26"});
    for (int i = 0; i < products; ++i)
      nodes.push_back({.op = "multiply",
                       .shape = "f32[]",
                       .operands = fmt::format("1,{}", std::min(i + 1, weights)),
                       .location = "loss@train.py:26"});
    nodes.push_back({.op = "add",
                     .shape = "f32[]",
                     .operands = fmt::format("{},{}", nodes.size() - 1, nodes.size() - 2),
                     .root = 0});
    return nodes;
  };
  EXPECT_EQ(TypeOf(graph(2, 2), graph(1, 2), PrintedForm::kHloOptimized),
            ReasonType::kParameterSharingChange);
  EXPECT_EQ(TypeOf(graph(2, 2), graph(1, 1), PrintedForm::kHloOptimized),
            ReasonType::kConstantChange);
}

TEST(GraphFold, ARepeatedViewIsTheSameGraph) {
  auto graph = [](bool is_repeated, const std::string& op) {
    TestNodes nodes = {{.op = "xla::device_data", .shape = "f32[4,8]{1,0}"},
                       {.op = op, .shape = "f32[8,4]{0,1}", .operands = "0"}};
    if (is_repeated) nodes.push_back(nodes[1]);
    nodes.push_back({.op = "aten::mul",
                     .shape = "f32[8,4]{0,1}",
                     .operands = is_repeated ? "1,2" : "1,1",
                     .root = 0});
    PrintedGraph printed = TestGraph(nodes, PrintedForm::kIrText);
    FoldRepeatedViews(&printed);
    return printed;
  };
  EXPECT_TRUE(Diff(graph(false, "aten::permute"), graph(true, "aten::permute")).origins.empty());
  // The text does not show which part a slice reads, so two slices may be different parts.
  EXPECT_EQ(graph(true, "xla::select").nodes.size(), 4);
}

TEST(GraphContent, Attributes) {
  EXPECT_EQ(
      ContentAttributes(
          "slice={[1:2], [0:128]}, metadata={op_name=\"a, b\" source_line=3}, to_apply=%add.3"),
      "slice={[1:2], [0:128]}");
  EXPECT_EQ(ContentAttributes("num_outputs=2, value=1"), "value=1");
  EXPECT_EQ(ContentAttributes(""), "");
}

// Regression: the index of an inner computation's parameter was called a number that is baked in.
TEST(GraphDiff, AParameterOfAnInnerComputationFollows) {
  auto graph = [](const std::string& shape, const std::string& index) {
    return TestNodes{{.op = "parameter",
                      .shape = shape,
                      .attributes = "parameter=" + index,
                      .computation = "eigh.2"},
                     {.op = "parameter", .shape = shape, .attributes = "parameter=0"},
                     {.op = "call", .shape = shape, .operands = "1", .root = 0}};
  };
  const GraphDiff diff =
      DiffOf(graph("f64[32,8]", "1"), graph("f64[21,8]", "0"), PrintedForm::kHlo);
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins.front().type, ReasonType::kShapeChange);
  EXPECT_TRUE(diff.origins.front().is_input);
  for (const GraphDifference& origin : diff.origins)
    EXPECT_NE(origin.type, ReasonType::kConstantChange);
}

// Regression: an op for another rank was called a number that is baked in.
TEST(GraphDiff, AnotherRankIsAnotherOp) {
  auto graph = [](const std::string& shape) {
    return TestNodes{{.op = "parameter", .shape = "f64[]", .attributes = "parameter=0"},
                     {.op = "broadcast", .shape = shape, .operands = "0", .root = 0}};
  };
  EXPECT_EQ(TypeOf(graph("f64[]"), graph("f64[4]"), PrintedForm::kHlo), ReasonType::kOpChange);
  EXPECT_EQ(TypeOf(graph("f64[5]"), graph("f64[4]"), PrintedForm::kHlo),
            ReasonType::kConstantChange);
}

TEST(GraphContent, DistanceOfMultisets) {
  EXPECT_EQ(MultisetDistance({1, 2, 2, 5}, {2, 3, 5}), 3);
  EXPECT_EQ(MultisetDistance({}, {}), 0);
}

TEST(GraphAlign, MatchesContentBeforeKind) {
  const std::vector<AlignKey> before = {{1, 1}, {2, 1}, {3, 2}},
                              after = {{1, 1}, {9, 1}, {2, 1}, {3, 2}};
  const Alignment alignment = Align(before, after);
  EXPECT_EQ(alignment.after_to_before, (std::vector<int>{0, -1, 1, 2}));
  EXPECT_EQ(alignment.before_to_after, (std::vector<int>{0, 2, 3}));
}

TEST(GraphAlign, FillsGapsByKind) {
  const std::vector<AlignKey> before = {{1, 1}, {2, 2}, {3, 3}, {4, 4}},
                              after = {{1, 1}, {5, 2}, {6, 3}, {7, 9}, {4, 4}};
  EXPECT_EQ(Align(before, after).after_to_before, (std::vector<int>{0, 1, 2, -1, 3}));
  EXPECT_TRUE(Align({}, {}).same_kinds);
  EXPECT_EQ(Align(before, {}).before_to_after, (std::vector<int>{-1, -1, -1, -1}));
}

TEST(GraphAlign, GivesUpOnStrangers) {
  std::vector<AlignKey> before, after;
  for (uint64_t i = 0; i < 3000; ++i)
    before.push_back({i, i}), after.push_back({i + 10000, i + 10000});
  after.push_back({1, 99999});
  EXPECT_TRUE(Align(before, after).too_different);
}

TEST(LoopCount, CountsTurns) {
  const std::vector<uint64_t> ops = {9, 1, 2, 1, 2, 1, 2, 8};
  const bool extra[] = {false, false, false, true, true, true, true, false};
  const auto loop = FindLoopCount(ops, extra);
  ASSERT_TRUE(loop.has_value());
  EXPECT_EQ(loop->body_length, 2);
  EXPECT_EQ(loop->longer_turns, 3);
  EXPECT_EQ(loop->shorter_turns, 1);
  const bool other[] = {true, true, false, false, false, false, false, false};
  EXPECT_FALSE(FindLoopCount(ops, other).has_value());
  EXPECT_FALSE(FindLoopCount({}, {}).has_value());
}

TEST(GraphDiff, EqualGraphsHaveNone) {
  EXPECT_TRUE(DiffOf(TrainStep(8), TrainStep(8)).origins.empty());
  EXPECT_EQ(DiffOf(TrainStep(8), TrainStep(8)).differing_nodes, 0);
  EXPECT_TRUE(DiffOf({}, {}).origins.empty());
}

TEST(GraphDiff, PlacesScopesAndLayoutsAreNoDifference) {
  TestNodes after = TrainStep(8);
  after[1].location = "body@train.py:99", after[1].scope = "train.2",
  after[1].shape = "f32[8,16]{0,1}";
  EXPECT_TRUE(DiffOf(TrainStep(8), after).origins.empty());
}

TEST(GraphDiff, AnInputOfAnotherSizeIsTheOriginAndWhatReadsItIsNot) {
  const GraphDiff diff = DiffOf(TrainStep(64), TrainStep(48));
  ASSERT_EQ(diff.origins.size(), 2u);  // images and labels
  EXPECT_EQ(diff.origins[0].type, ReasonType::kShapeChange);
  EXPECT_EQ(diff.origins[0].before, "f32[64,16]");
  EXPECT_EQ(diff.origins[0].after, "f32[48,16]");
  EXPECT_EQ(diff.origins[0].node_index, 1);
  EXPECT_TRUE(diff.origins[0].is_input);
  EXPECT_EQ(diff.origins[1].node_index, 3);
  EXPECT_EQ(diff.differing_nodes, 3);
}

TEST(GraphDiff, AnInputOfAnotherRankIsAShapeToo) {
  TestNodes before = TrainStep(8), after = TrainStep(8);
  after[1].shape = "f32[8,16,1]";
  EXPECT_EQ(TypeOf(before, after), ReasonType::kShapeChange);
}

TEST(GraphDiff, AnInputOfAnotherTypeIsADtypeChange) {
  TestNodes after = TrainStep(8);
  after[1].shape = "bf16[8,16]{1,0}";
  EXPECT_EQ(TypeOf(TrainStep(8), after), ReasonType::kDtypeChange);
}

TEST(GraphDiff, AnotherResultOfEqualOperandsIsABakedNumber) {
  const TestNodes before = {{.op = "xla::device_data", .shape = "f32[32,8]"},
                            {.op = "xla::select", .shape = "f32[32,8]", .operands = "0"},
                            {.op = "aten::sum", .shape = "f32[]", .operands = "1", .root = 0}};
  TestNodes after = before;
  after[1].shape = "f32[31,8]";
  const GraphDiff diff = DiffOf(before, after);
  ASSERT_EQ(diff.origins.size(), 1u);
  EXPECT_EQ(diff.origins[0].type, ReasonType::kConstantChange);
  EXPECT_EQ(diff.origins[0].node, "xla::select");
}

TEST(GraphDiff, AnotherAttributeIsABakedNumberWithBothValues) {
  const TestNodes before = {{.op = "parameter", .shape = "f32[64,8]"},
                            {.op = "slice",
                             .shape = "f32[1,8]",
                             .operands = "0",
                             .attributes = "slice={[1:2], [0:8]}",
                             .root = 0}};
  TestNodes after = before;
  after[1].attributes = "slice={[2:3], [0:8]}";
  const GraphDiff diff = DiffOf(before, after, PrintedForm::kHlo);
  ASSERT_EQ(diff.origins.size(), 1u);
  EXPECT_EQ(diff.origins[0].type, ReasonType::kConstantChange);
  EXPECT_EQ(diff.origins[0].before, "slice={[1:2], [0:8]}");
  EXPECT_EQ(diff.origins[0].after, "slice={[2:3], [0:8]}");
}

TEST(GraphDiff, ASizedConstantFollowsFromAChangedInput) {
  TestNodes before = TrainStep(8), after = TrainStep(9);
  for (TestNodes* nodes : {&before, &after}) {
    const std::string size = nodes == &before ? "8" : "9";
    nodes->insert(
        nodes->begin(),
        {{.op = "prim::Constant", .shape = "f32[]"},
         {.op = "aten::expand", .shape = "f32[" + size + "]", .operands = "0", .root = 5}});
    for (size_t i = 2; i < nodes->size(); ++i) {
      for (char& c : (*nodes)[i].operands) {
        if (c >= '0' && c <= '9') c = static_cast<char>(c + 2);
      }
    }
  }
  const GraphDiff diff = DiffOf(before, after);
  ASSERT_EQ(diff.origins.size(), 3u);
  EXPECT_TRUE(diff.origins[0].is_input);
  EXPECT_TRUE(diff.origins[2].follows);
  EXPECT_EQ(diff.origins[2].node, "aten::expand");
}

// Returns a part of softmax() over a cache of keys, whose sums are repeated along the keys.
TestNodes SoftmaxOverCache(int keys) {
  const std::string scores = fmt::format("f32[4,{}]", keys),
                    size = fmt::format("size=(4, {})", keys);
  return {{.op = "xla::device_data", .shape = fmt::format("f32[4,{}]", keys - 1)},
          {.op = "xla::device_data", .shape = "f32[4,1]"},
          {.op = "aten::cat", .shape = scores, .operands = "0,1"},
          {.op = "aten::amax", .shape = "f32[4,1]", .operands = "2"},
          {.op = "aten::expand", .shape = scores, .operands = "3", .attributes = size},
          {.op = "aten::sub", .shape = scores, .operands = "2,4", .root = 0}};
}

// Regression: the size of the sums was named as a number in the graph, and the cache was not.
TEST(GraphDiff, ABroadcastFollowsFromWhatItIsCombinedWith) {
  const GraphDiff diff = DiffOf(SoftmaxOverCache(12), SoftmaxOverCache(13));
  ASSERT_EQ(diff.origins.size(), 2u);
  EXPECT_TRUE(diff.origins[0].is_input);
  EXPECT_FALSE(diff.origins[0].follows);
  EXPECT_EQ(diff.origins[1].node, "aten::expand");
  EXPECT_TRUE(diff.origins[1].follows);
}

TEST(GraphDiff, ABroadcastThatIsCombinedWithItselfHasItsOwnSize) {
  const auto padded = [](int size) {
    const std::string shape = fmt::format("f32[4,{}]", size);
    return TestNodes{
        {.op = "xla::device_data", .shape = "f32[4,1]"},
        {.op = "aten::expand", .shape = shape, .operands = "0", .attributes = "size=" + shape},
        {.op = "aten::exp", .shape = shape, .operands = "1"},
        {.op = "aten::sub", .shape = shape, .operands = "1,2", .root = 0}};
  };
  const GraphDiff diff = DiffOf(padded(12), padded(13));
  ASSERT_EQ(diff.origins.size(), 1u);
  EXPECT_EQ(diff.origins[0].type, ReasonType::kConstantChange);
  EXPECT_FALSE(diff.origins[0].follows);
}

TEST(GraphDiff, AScalarThatBecomesAnInputIsAFlippedConstant) {
  const TestNodes before = {{.op = "xla::device_data", .shape = "f32[8]"},
                            {.op = "prim::Constant", .shape = "f32[]"},
                            {.op = "aten::mul", .shape = "f32[8]", .operands = "0,1", .root = 0}};
  TestNodes after = before;
  after[1].op = "xla::device_data";
  EXPECT_EQ(TypeOf(before, after), ReasonType::kConstantChange);
  EXPECT_EQ(TypeOf(after, before), ReasonType::kConstantChange);
}

TEST(GraphDiff, ACounterThatIsUpdatedIsStateAndNoFlippedConstant) {
  const TestNodes before = {{.op = "prim::Constant", .shape = "s64[]"},
                            {.op = "prim::Constant", .shape = "s64[]"},
                            {.op = "aten::add", .shape = "s64[]", .operands = "0,1", .root = 0}};
  TestNodes after = before;
  after[0].op = "xla::device_data";
  EXPECT_EQ(TypeOf(before, after), ReasonType::kOpChange);
}

// Regression: prob[:, :classes] records no op if `classes` is the whole dimension, and that looked
// like another path of the code.
TEST(GraphDiff, APartThatIsTheWholeIsAnotherBound) {
  const TestNodes part{
      {.op = "xla::device_data", .shape = "f32[4,14]"},
      {.op = "xla::select", .shape = "f32[4,11]", .operands = "0", .location = "f@dice.py:15"},
      {.op = "aten::sum", .shape = "f32[]", .operands = "1", .root = 0}};
  const TestNodes whole{part[0], {.op = "aten::sum", .shape = "f32[]", .operands = "0", .root = 0}};
  const GraphDiff less = DiffOf(part, whole);
  ASSERT_FALSE(less.origins.empty());
  EXPECT_EQ(less.origins[0].type, ReasonType::kConstantChange);
  EXPECT_TRUE(less.origins[0].resized);
  EXPECT_EQ(less.origins[0].before, "f32[4,11]");
  EXPECT_EQ(less.origins[0].after, "f32[4,14]");
  EXPECT_EQ(less.origins[0].before_index, 1);
  const GraphDiff more = DiffOf(whole, part);
  ASSERT_FALSE(more.origins.empty());
  EXPECT_EQ(more.origins[0].before, "f32[4,14]");
  EXPECT_EQ(more.origins[0].after, "f32[4,11]");
  EXPECT_EQ(more.origins[0].node_index, 1);
}

// Regression: layers that are frozen at random have the same shapes, and the report said that only
// some graphs contain an op that all of them contain.
TEST(GraphDiff, TheSameOpsInAnotherOrderAreNotOtherOps) {
  const TestNode weight{.op = "xla::device_data", .shape = "f32[8]"},
      grad{.op = "aten::mul", .shape = "f32[8]", .operands = "0,0"},
      relu{.op = "aten::relu", .shape = "f32[8]", .operands = "1"},
      tanh{.op = "aten::tanh", .shape = "f32[8]", .operands = "2"};
  TestNodes one{weight, grad, relu, tanh}, other{weight, grad, tanh, relu};
  other[2].operands = "1", other[3].operands = "2";
  one[3].root = other[3].root = 0;
  const GraphDiff diff = DiffOf(one, other);
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins[0].type, ReasonType::kOpChange);
  EXPECT_TRUE(diff.origins[0].has_same_ops);
}

TEST(GraphDiff, OtherOps) {
  TestNodes after = TrainStep(8);
  after[2].op = "aten::add";
  const GraphDiff diff = DiffOf(TrainStep(8), after);
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins[0].type, ReasonType::kOpChange);
  EXPECT_EQ(diff.origins[0].before, "aten::mul f32[8,16]");
  EXPECT_EQ(diff.origins[0].after, "aten::add f32[8,16]");
}

TEST(GraphDiff, AnOpThatOnlyOneGraphHasIsEmptyInTheOther) {
  const TestNodes before = TrainStep(8);
  TestNodes after = before;
  after.push_back({.op = "aten::tanh",
                   .shape = before.back().shape,
                   .operands = std::to_string(before.size() - 1),
                   .root = before.back().root});
  after[before.size() - 1].root = {};
  const auto text = "aten::tanh " + std::string(before.back().shape);
  GraphDiff diff = DiffOf(before, after);
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins[0].type, ReasonType::kOpChange);
  EXPECT_EQ(diff.origins[0].before, "");
  EXPECT_EQ(diff.origins[0].after, text);
  diff = DiffOf(after, before);
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins[0].before, text);
  EXPECT_EQ(diff.origins[0].after, "");
}

TEST(GraphDiff, APartThatIsRepeatedMoreOftenIsALoop) {
  const GraphDiff diff = DiffOf(Unrolled(3), Unrolled(5));
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins[0].type, ReasonType::kLoopCountChange);
  EXPECT_EQ(diff.origins[0].before, "3 times");
  EXPECT_EQ(diff.origins[0].after, "5 times");
  EXPECT_EQ(diff.origins[0].node, "aten::mm, aten::tanh");
  EXPECT_EQ(TypeOf(Unrolled(5), Unrolled(2)), ReasonType::kLoopCountChange);
}

// Returns a graph of one or two micro-batches. Both have the same ops, but in another order, so no
// two copies lie side by side.
TestNodes MicroBatches(int turns) {
  TestNodes nodes = {{.op = "xla::device_data", .shape = "f32[4,4]"}};
  const int kinds = 40;
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < kinds; ++i) {
      const int kind = i * (turn == 0 ? 1 : 7) % kinds;
      const std::string op = kind == 0   ? "aten::view_copy"
                             : kind == 7 ? "aten::view"
                                         : fmt::format("aten::op{}", kind);
      nodes.push_back({.op = op, .shape = "f32[4,4]", .operands = "0"});
    }
  }
  nodes.push_back({.op = "aten::sum", .shape = "f32[]", .operands = "1", .root = 0});
  return nodes;
}

TEST(GraphDiff, ARepeatedPartNamesOpsWhoseNamesBeginAlike) {
  const GraphDiff diff = DiffOf(MicroBatches(1), MicroBatches(2));
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins[0].type, ReasonType::kLoopCountChange);
  EXPECT_EQ(diff.origins[0].before, "once");
  EXPECT_EQ(diff.origins[0].after, "2 times");
  EXPECT_EQ(diff.origins[0].node,
            "aten::view_copy, aten::view, aten::op14, aten::op21, aten::op28, ...");
}

TEST(GraphDiff, AddingAnOpOnceIsNoLoop) {
  TestNodes after = Unrolled(3);
  after.back() = {.op = "aten::relu", .shape = "f32[4,4]", .operands = "7"};
  after.push_back({.op = "aten::sum", .shape = "f32[]", .operands = "8", .root = 0});
  EXPECT_EQ(TypeOf(Unrolled(3), after), ReasonType::kOpChange);
}

TEST(GraphDiff, AnotherResultIsALiveTensor) {
  TestNodes after = TrainStep(8);
  after.push_back({.op = "aten::mean", .shape = "f32[]", .operands = "2", .root = 1});
  const GraphDiff diff = DiffOf(TrainStep(8), after);
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins[0].type, ReasonType::kLiveTensorsChange);
  EXPECT_EQ(diff.origins[0].before, "1 result");
  EXPECT_EQ(diff.origins[0].after, "2 results");
  TestNodes marked = TrainStep(8);
  marked[2].root = 1;
  EXPECT_EQ(TypeOf(TrainStep(8), marked), ReasonType::kLiveTensorsChange);
}

TEST(GraphDiff, TheTupleOfResultsIsNoNode) {
  TestNodes before = {{.op = "parameter", .shape = "f32[4]"},
                      {.op = "tanh", .shape = "f32[4]", .operands = "0"},
                      {.op = "tuple", .shape = "(f32[4])", .operands = "1", .root = 0}};
  TestNodes after = before;
  after[2] = {.op = "tuple", .shape = "(f32[4], f32[4])", .operands = "1,0", .root = 0};
  EXPECT_EQ(TypeOf(before, after, PrintedForm::kHlo), ReasonType::kLiveTensorsChange);
}

TEST(GraphDiff, TwoInputsThatAreOne) {
  const TestNodes before = {{.op = "parameter", .shape = "f32[4]"},
                            {.op = "parameter", .shape = "f32[4]"},
                            {.op = "add", .shape = "f32[4]", .operands = "0,1", .root = 0}};
  const TestNodes after = {{.op = "parameter", .shape = "f32[4]"},
                           {.op = "add", .shape = "f32[4]", .operands = "0,0", .root = 0}};
  EXPECT_EQ(TypeOf(before, after, PrintedForm::kHlo), ReasonType::kParameterSharingChange);
  EXPECT_EQ(TypeOf(before, after, PrintedForm::kHloOptimized), ReasonType::kParameterSharingChange);
  EXPECT_EQ(TypeOf(before, before, PrintedForm::kHlo), ReasonType::kUnknown);
}

// --- optimised HLO ---

TestNodes Fused(const std::string& slice, const std::string& number, const std::string& rows,
                bool apart) {
  TestNodes nodes = {
      {.op = "parameter", .shape = "f32[64,8]", .attributes = "0", .computation = "fused"},
      {.op = "slice",
       .shape = "f32[" + rows + ",8]",
       .operands = "0",
       .attributes = "slice={" + slice + "}",
       .location = "body@t.py:10",
       .computation = "fused"},
      {.op = "constant",
       .shape = "f32[]",
       .attributes = number,
       .location = "body@t.py:9",
       .computation = "fused"},
      {.op = "broadcast", .shape = "f32[" + rows + ",8]", .operands = "2", .computation = "fused"},
      {.op = "power", .shape = "f32[" + rows + ",8]", .operands = "1,3", .computation = "fused"},
      {.op = "parameter", .shape = "f32[64,8]", .attributes = "0"},
      {.op = "fusion",
       .shape = "f32[" + rows + ",8]",
       .operands = "5",
       .attributes = "kind=kLoop, calls=%fused"}};
  if (apart) nodes.push_back({.op = "copy", .shape = "f32[" + rows + ",8]", .operands = "6"});
  return nodes;
}

TEST(GraphDiffOptimized, OtherFusionsAreNoDifference) {
  EXPECT_EQ(TypeOf(Fused("[0:9]", "2", "9", false), Fused("[0:9]", "2", "9", true),
                   PrintedForm::kHloOptimized),
            ReasonType::kUnknown);
  EXPECT_EQ(TypeOf({}, {}, PrintedForm::kHloOptimized), ReasonType::kUnknown);
}

// A layer that is skipped at random takes its weights with it, so other inputs stand at their
// positions. A product is no other size of a gradient.
TEST(GraphDiffOptimized, OtherLayersAreNoOtherSizes) {
  auto graph = [](bool first_layer) {
    TestNodes nodes = {{.op = "parameter", .shape = "f32[16,64]", .attributes = "0"}};
    const std::vector<const char*> inputs = first_layer
                                                ? std::vector{"f32[64,192]", "f32[192]", "f32[]"}
                                                : std::vector{"f32[]", "f32[64]", "f32[192,64]"};
    for (size_t i = 0; i < inputs.size(); ++i) {
      nodes.push_back(
          {.op = "parameter", .shape = inputs[i], .attributes = fmt::format("{}", i + 1)});
    }
    nodes.push_back({.op = "dot",
                     .shape = first_layer ? "f32[64,192]" : "f32[192,64]",
                     .operands = first_layer ? "0,1" : "0,3",
                     .root = 0});
    return nodes;
  };
  EXPECT_EQ(TypeOf(graph(true), graph(false), PrintedForm::kHloOptimized), ReasonType::kOpChange);
}

TEST(GraphDiffOptimized, ASliceInsideAFusion) {
  const GraphDiff diff = DiffOf(Fused("[1:2]", "2", "1", false), Fused("[2:3]", "2", "1", true),
                                PrintedForm::kHloOptimized);
  ASSERT_EQ(diff.origins.size(), 1u);
  EXPECT_EQ(diff.origins[0].type, ReasonType::kConstantChange);
  EXPECT_EQ(diff.origins[0].after, "slice={[2:3]}");
}

TEST(GraphDiffOptimized, TheOpThatChangedComesBeforeTheNumber) {
  const GraphDiff diff = DiffOf(Fused("[0:9]", "2", "9", false), Fused("[0:8]", "3", "8", false),
                                PrintedForm::kHloOptimized);
  ASSERT_GE(diff.origins.size(), 2u);
  EXPECT_EQ(diff.origins[0].node, "slice");
  EXPECT_FALSE(diff.origins[0].follows);
  EXPECT_EQ(diff.origins[1].node, "constant");
  EXPECT_TRUE(diff.origins[1].follows);
}

TEST(GraphDiffOptimized, AnInputThatChangedComesFirst) {
  TestNodes before = Fused("[0:9]", "2", "9", false), after = Fused("[0:8]", "2", "8", false);
  after[5].shape = "f32[60,8]";
  const GraphDiff diff = DiffOf(before, after, PrintedForm::kHloOptimized);
  ASSERT_FALSE(diff.origins.empty());
  EXPECT_EQ(diff.origins[0].type, ReasonType::kShapeChange);
  EXPECT_EQ(diff.origins[0].after, "f32[60,8]");
}

// Returns a graph of x * first + second, as our runtime records it: equal numbers are one input,
// and so is what is computed from them alone. 0 and 1 are constants.
TestNodes OfTwoNumbers(int first, int second) {
  TestNodes nodes = {{.op = "xla::device_data", .shape = "f32[8]"}};
  const auto add = [&](int number) {
    const std::string at = std::to_string(nodes.size());
    nodes.push_back(number > 1 ? TestNode{.op = "xla::device_data", .shape = "f32[]"}
                               : TestNode{.op = "prim::Constant",
                                          .shape = "f32[]",
                                          .attributes = fmt::format("value={}", number)});
    nodes.push_back({.op = "aten::expand", .shape = "f32[8]", .operands = at});
    return std::to_string(nodes.size() - 1);
  };
  const std::string a = add(first), b = first == second ? a : add(second);
  nodes.push_back({.op = "aten::mul", .shape = "f32[8]", .operands = "0," + a});
  nodes.push_back({.op = "aten::add",
                   .shape = "f32[8]",
                   .operands = std::to_string(nodes.size() - 1) + "," + b,
                   .root = 0});
  return nodes;
}

TEST(GraphDiff, NumbersThatBecomeEqualOrSpecial) {
  EXPECT_EQ(TypeOf(OfTwoNumbers(2, 3), OfTwoNumbers(3, 3)), ReasonType::kParameterSharingChange);
  EXPECT_EQ(TypeOf(OfTwoNumbers(3, 3), OfTwoNumbers(2, 3)), ReasonType::kParameterSharingChange);
  for (const auto& [before, after] :
       {std::pair(OfTwoNumbers(2, 0), OfTwoNumbers(3, 3)), {OfTwoNumbers(3, 3), OfTwoNumbers(1, 2)},
        {OfTwoNumbers(1, 1), OfTwoNumbers(2, 3)}}) {
    const GraphDiff diff = DiffOf(before, after);
    ASSERT_FALSE(diff.origins.empty());
    EXPECT_EQ(diff.origins[0].type, ReasonType::kConstantChange);
    EXPECT_TRUE(diff.origins[0].is_scalar_or_input);
  }
  TestNodes other = OfTwoNumbers(3, 3);
  other[2].op = "aten::view";
  EXPECT_EQ(TypeOf(OfTwoNumbers(2, 3), other), ReasonType::kOpChange);
}

// The same program is compiled for inputs that have another layout on the devices, or a weak type.
TEST(GraphDiff, AttributesOfInputs) {
  auto with = [](const std::string& shape, const std::string& attributes) {
    return TestNodes{{.op = "parameter", .shape = shape, .attributes = attributes},
                     {.op = "tanh", .shape = shape, .operands = "0", .root = 0}};
  };
  const GraphDiff sharding =
      DiffOf(with("f32[16,8]", "parameter=0, sharding=P()"),
             with("f32[16,8]", "parameter=0, sharding=P('data',)"), PrintedForm::kHlo);
  ASSERT_FALSE(sharding.origins.empty());
  EXPECT_EQ(sharding.origins[0].type, ReasonType::kShardingChange);
  EXPECT_EQ(sharding.origins[0].before, "P()");
  EXPECT_EQ(sharding.origins[0].after, "P('data',)");
  EXPECT_EQ(TypeOf(with("f32[16,8]", "sharding={replicated}"),
                   with("f32[4,8]", "sharding={devices=[4,1]<=[4]}"), PrintedForm::kHloOptimized),
            ReasonType::kShardingChange);
  // JAX's log and StableHLO print unsharded shapes, whatever the sharding.
  EXPECT_EQ(TypeOf(with("f32[16,8]", "parameter=0, sharding=P('data',)"),
                   with("f32[7,8]", "parameter=0, sharding=P()"), PrintedForm::kSignature),
            ReasonType::kShapeChange);
  EXPECT_EQ(TypeOf(with("f32[]", "weak_type=True"), with("f32[]", ""), PrintedForm::kSignature),
            ReasonType::kDtypeChange);
}

TEST(GraphDiffOptimized, NewInstructions) {
  TestNodes after = Fused("[0:9]", "2", "9", false);
  after.push_back({.op = "tanh", .shape = "f32[9,8]", .operands = "6"});
  EXPECT_EQ(TypeOf(Fused("[0:9]", "2", "9", false), after, PrintedForm::kHloOptimized),
            ReasonType::kOpChange);
}

}  // namespace
}  // namespace xlaprof
