#include "analyzers/graph/op_users.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

using Users = std::vector<int>;

TEST(OpUsers, ThroughTuplesAndBitcasts) {
  const auto users = OpUsers(TestGraph({{.op = "parameter", .shape = "f32[4]{0}"},
                                        {.op = "copy", .shape = "f32[4]{0}", .operands = "0"},
                                        {.op = "bitcast", .shape = "f32[2,2]", .operands = "1"},
                                        {.op = "negate", .shape = "f32[4]{0}", .operands = "1"},
                                        {.op = "tuple", .operands = "2,3"},
                                        {.op = "while", .operands = "4"},
                                        {.op = "get-tuple-element", .operands = "5"},
                                        {.op = "abs", .operands = "6", .root = 0}}));
  EXPECT_EQ(users[0], Users({1}));
  EXPECT_EQ(users[1], Users({3, 5}));
  EXPECT_EQ(users[3], Users({5}));
  EXPECT_EQ(users[5], Users({7}));
  EXPECT_TRUE(users[7].empty());
}

TEST(OpUsers, OtherComputationsHaveNone) {
  const auto users = OpUsers(TestGraph({{.op = "parameter", .computation = "fused"},
                                        {.op = "abs", .operands = "0", .computation = "fused"}}));
  EXPECT_TRUE(users[0].empty());
}

}  // namespace
}  // namespace xlaprof
