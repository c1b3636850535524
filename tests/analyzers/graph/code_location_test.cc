#include "analyzers/graph/code_location.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

TEST(CodeLocation, ParsesBothForms) {
  CodeLocation place = ParseLocation("body@train.py:7");
  EXPECT_EQ(place.function, "body");
  EXPECT_EQ(place.text(), "train.py:7");
  place = ParseLocation("/home/user/mail@home/train.py:12");  // an @ in a path is no function
  EXPECT_EQ(place.function, "");
  EXPECT_EQ(place.text(), "/home/user/mail@home/train.py:12");
  EXPECT_EQ(ParseLocation("train_step.<locals>.loss@/x/a.py:3").function,
            "train_step.<locals>.loss");
  EXPECT_FALSE(ParseLocation("train.py").line.has_value());
  EXPECT_TRUE(ParseLocation("").empty());
}

TEST(CodeLocation, ABasenameBecomesAPathOnlyWhereItIsUnique) {
  RecompileRun run;
  run.Frame("body", "/home/user/train.py", 6);
  run.Frame("step", "/home/a/loop.py", 6);
  run.Frame("step", "/home/b/loop.py", 6);
  const UserCode code = UserCode::Load(run.store()).value();
  EXPECT_EQ(code.Resolve(ParseLocation("body@train.py:7")).file, "/home/user/train.py");
  EXPECT_EQ(code.Resolve(ParseLocation("other@train.py:7")).file, "train.py");
  EXPECT_EQ(code.Resolve(ParseLocation("step@loop.py:7")).file, "loop.py");
}

TEST(CodeLocation, LibrariesAreNotTheUsers) {
  RecompileRun run;
  run.Frame("forward", "/home/user/linear.py", 6);
  const UserCode code = UserCode::Load(run.store()).value();
  EXPECT_TRUE(code.IsUser(ParseLocation("forward@model.py:5")));
  EXPECT_FALSE(code.IsUser(ParseLocation("forward@conv.py:5")));
  EXPECT_TRUE(
      code.IsUser(ParseLocation("forward@linear.py:5")));  // the user has a file of that name
  EXPECT_FALSE(code.IsUser(ParseLocation("/usr/lib/python3.11/site-packages/torch/nn/x.py:5")));
  EXPECT_TRUE(code.IsUser(ParseLocation("/home/user/conv.py:5")));
  EXPECT_FALSE(code.IsUser(ParseLocation("<frozen importlib>:5")));
}

TEST(CodeLocation, NearIsTheClosestUserLine) {
  RecompileRun run;
  const UserCode code = UserCode::Load(run.store()).value();
  const PrintedGraph graph = TestGraph(
      {{.op = "xla::device_data", .shape = "f32[4]", .location = "body@train.py:3"},
       {.op = "aten::permute",
        .shape = "f32[4]",
        .operands = "0",
        .location = "forward@linear.py:4"},
       {.op = "aten::mm",
        .shape = "f32[4]",
        .operands = "1",
        .location = "forward@linear.py:4",
        .scope = "s"},
       {.op = "aten::abs", .shape = "f32[4]", .location = "forward@linear.py:4", .scope = "s"}});
  EXPECT_EQ(code.Near(graph, 1).text(), "train.py:3");
  EXPECT_EQ(code.Near(graph, 2).text(), "train.py:3");
  EXPECT_TRUE(code.Near(graph, 3).empty());
}

}  // namespace
}  // namespace xlaprof
