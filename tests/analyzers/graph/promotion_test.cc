#include "analyzers/graph/promotion.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

// Returns a program that subtracts `centres` from its first input and multiplies the result with its
// second one.
PrintedGraph Energy(const TestNode& centres, const std::string& input_type = "f32") {
  return TestGraph({{.op = "parameter", .shape = input_type + "[576,32]{1,0}"},
                    {.op = "parameter", .shape = "f32[32,128]{1,0}"},
                    centres,
                    {.op = "broadcast", .shape = "f64[576,32]{1,0}", .operands = "2"},
                    {.op = "convert", .shape = "f64[576,32]{1,0}", .operands = "0"},
                    {.op = "subtract",
                     .shape = "f64[576,32]{1,0}",
                     .operands = "4,3",
                     .location = "energy@forces.py:18"},
                    {.op = "convert", .shape = "f64[32,128]{1,0}", .operands = "1"},
                    {.op = "dot",
                     .shape = "f64[576,128]{1,0}",
                     .operands = "5,6",
                     .location = "energy@forces.py:19"},
                    {.op = "multiply",
                     .shape = "f64[576,128]{1,0}",
                     .operands = "7,7",
                     .location = "energy@forces.py:19"}},
                   PrintedForm::kHloOptimized);
}

TEST(Promotion, ATableIsNamedWhereItIsRead) {
  const auto promotion = FindPromotion(
      Energy({.op = "constant", .shape = "f64[32]{0}", .location = "energy@forces.py:17"}));
  ASSERT_TRUE(promotion);
  EXPECT_TRUE(promotion->has_array);
  EXPECT_EQ(promotion->location, "energy@forces.py:17");
}

TEST(Promotion, ANumberIsNamedWhereItIsFirstComputedWith) {
  const auto promotion = FindPromotion(Energy({.op = "constant", .shape = "f64[]"}));
  ASSERT_TRUE(promotion);
  EXPECT_FALSE(promotion->has_array);
  EXPECT_EQ(promotion->location, "energy@forces.py:18");
}

TEST(Promotion, InputsInDoublePrecisionAreTheReason) {
  EXPECT_EQ(FindPromotion(Energy({.op = "constant", .shape = "f64[32]{0}"}, "f64"))->inputs, 1);
}

TEST(Promotion, TuplesAndComplexNumbersCountByTheirFirstPart) {
  EXPECT_TRUE(IsDoublePrecision("(f64[4]{0}, f32[4]{0})"));
  EXPECT_TRUE(IsDoublePrecision("c128[4]{0}"));
  EXPECT_FALSE(IsDoublePrecision("f32[64]{0}"));
}

}  // namespace
}  // namespace xlaprof
