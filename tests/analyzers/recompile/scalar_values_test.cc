// Tests scalars that become a part of the graph because of their value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

// Returns a step with two numbers, which are 0 or 1, and so a part of the graph, or inputs.
TestNodes StepWith(bool weight_is_one, bool shown_is_zero) {
  const auto number = [](bool is_constant, const char* location) {
    return TestNode{.op = is_constant ? "prim::Constant" : "xla::device_data",
                    .shape = "f32[]",
                    .location = location};
  };
  return {number(weight_is_one, "main@fit.py:47"),
          number(shown_is_zero, "main@fit.py:56"),
          {.op = "xla::device_data", .shape = "f32[8]", .location = "main@fit.py:53"},
          {.op = "aten::mul", .shape = "f32[8]", .operands = "2,0", .location = "main@fit.py:53"},
          {.op = "aten::add",
           .shape = "f32[8]",
           .operands = "3,1",
           .location = "main@fit.py:56",
           .root = 0}};
}

// Regression: one cause was four findings, of which three were info because each happened once.
TEST(ScalarValues, OfSeveralLinesAreOneFinding) {
  RecompileRun run;
  const int64_t usual = run.Graph("a", StepWith(false, false)),
                one = run.Graph("b", StepWith(true, false)),
                zero = run.Graph("c", StepWith(false, true));
  run.Steps(usual, 20);
  run.Step(one);
  run.Steps(usual, 20);
  run.Step(zero);
  run.Steps(usual, 20);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kConstantChange);
  EXPECT_EQ(finding.count, 2);
  const RecompileFigures figures = FiguresOfRecompiles(finding);
  ASSERT_EQ(figures.scalar_places.size(), 2u);
  EXPECT_EQ(figures.scalar_places[0].first.line, 47);
  EXPECT_EQ(figures.scalar_places[1].first.line, 56);
  EXPECT_THAT(finding.words.why,
              testing::HasSubstr("The numbers are at fit.py:47 (once) and fit.py:56 (once)."));
}

}  // namespace
}  // namespace xlaprof
