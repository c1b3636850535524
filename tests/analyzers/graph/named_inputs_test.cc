#include "analyzers/graph/graph_diff_internal.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

// Returns a program that adds its inputs, which have these names.
PrintedGraph Program(const std::vector<std::string>& names) {
  TestNodes nodes;
  for (const std::string& name : names) {
    nodes.push_back({.op = "parameter",
                     .shape = "f32[8]{0}",
                     .attributes = fmt::format("parameter={}{}", nodes.size(),
                                               name.empty() ? "" : ", argument=\"" + name + "\"")});
  }
  nodes.push_back({.op = "add", .shape = "f32[8]{0}", .operands = "0,0", .root = 0});
  return TestGraph(nodes, PrintedForm::kHloOptimized);
}

const std::vector<std::string> kUsual = {"params['a']", "params['b']", "batch['item']"};

TEST(NamedInputs, TheArgumentWithTheFewestInputsIsNamed) {
  const PrintedGraph before = Program(kUsual),
                     after = Program({"params['a']", "params['b']", "params['image']",
                                      "batch['image']", "batch['item']"});
  const auto gained = OtherNamedInputs(before, after), lost = OtherNamedInputs(after, before);
  ASSERT_TRUE(gained && lost);
  EXPECT_EQ(gained->type, ReasonType::kInputStructureChange);
  EXPECT_EQ(gained->node, "batch");
  EXPECT_EQ(gained->before, "");
  EXPECT_EQ(gained->after, "batch['image']");
  EXPECT_EQ(lost->before, "batch['image']");
  EXPECT_EQ(lost->after, "");
}

TEST(NamedInputs, AnotherOrderIsNoDifference) {
  EXPECT_FALSE(OtherNamedInputs(Program(kUsual), Program({kUsual[2], kUsual[0], kUsual[1]})));
}

TEST(NamedInputs, InputsWithoutNamesAreNotCompared) {
  EXPECT_FALSE(OtherNamedInputs(Program(kUsual), Program({kUsual[0], ""})));
  EXPECT_FALSE(OtherNamedInputs(Program({"x", "x"}), Program(kUsual)));
}

TEST(NamedInputs, OtherInputsExplainOtherOps) {
  PrintedGraph after = Program({kUsual[0], kUsual[1], "batch['image']"});
  after.nodes.back().op = "multiply";
  const GraphDiff diff = Diff(Program(kUsual), after);
  ASSERT_EQ(diff.origins.size(), 1u);
  EXPECT_EQ(diff.origins[0].before, "batch['item']");
  EXPECT_EQ(diff.origins[0].after, "batch['image']");
}

TEST(Recompilation, KeysThatComeAndGoAreOneFinding) {
  RecompileRun run;
  const std::vector<std::vector<std::string>> steps = {
      {"w", "batch['a']"}, {"w", "batch['b']"}, {"w", "batch['a']", "batch['b']"}, {"w", "batch"}};
  for (const std::vector<std::string>& names : steps) {
    TestNodes nodes;
    for (const GraphNode& node : Program(names).nodes)
      nodes.push_back({.op = node.op, .shape = node.shape, .attributes = node.attributes});
    run.Step(
        run.Graph(names.back() + std::to_string(names.size()), nodes, PrintedForm::kHloOptimized),
        {.cause = CutKind::kCall, .function = "train_step"});
  }
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.count, 3);
  EXPECT_EQ(finding.reason->type, ReasonType::kInputStructureChange);
  EXPECT_NE(finding.words.title.find("only some of its programs have inputs such as batch['"),
            std::string::npos)
      << finding.words.title;
}

}  // namespace
}  // namespace xlaprof
