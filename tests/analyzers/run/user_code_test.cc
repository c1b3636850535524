#include "analyzers/run/user_code.h"

#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

TEST(UserCodeTest, ABasenameBecomesAPathOnlyWhereItIsUnique) {
  RecompileRun run;
  run.Frame("body", "/home/user/train.py", 6);
  run.Frame("step", "/home/a/loop.py", 6);
  run.Frame("step", "/home/b/loop.py", 6);
  const UserCode code = UserCode::Of(xlaprof::Run(run.store())).value();
  EXPECT_EQ(code.Resolve(SourcePlace::Parse("body@train.py:7")).file, "/home/user/train.py");
  EXPECT_EQ(code.Resolve(SourcePlace::Parse("other@train.py:7")).file, "train.py");
  EXPECT_EQ(code.Resolve(SourcePlace::Parse("step@loop.py:7")).file, "loop.py");
}

TEST(UserCodeTest, LibrariesAreNotTheUsers) {
  RecompileRun run;
  run.Frame("forward", "/home/user/linear.py", 6);
  const UserCode code = UserCode::Of(xlaprof::Run(run.store())).value();
  EXPECT_TRUE(code.IsUser(SourcePlace::Parse("forward@model.py:5")));
  EXPECT_FALSE(code.IsUser(SourcePlace::Parse("forward@conv.py:5")));
  EXPECT_TRUE(
      code.IsUser(SourcePlace::Parse("forward@linear.py:5")));  // the user has a file of that name
  EXPECT_FALSE(
      code.IsUser(SourcePlace::Parse("/usr/lib/python3.11/site-packages/torch/nn/x.py:5")));
  EXPECT_TRUE(code.IsUser(SourcePlace::Parse("/home/user/conv.py:5")));
  EXPECT_FALSE(code.IsUser(SourcePlace::Parse("<frozen importlib>:5")));
}

// Profilers record basenames, or paths without the folder of installed packages.
TEST(UserCodeTest, CallsOfLibrariesAreNotTheUsers) {
  RecompileRun run;
  run.Frame("update", "/home/user/random.py", 6);
  const UserCode code = UserCode::Of(xlaprof::Run(run.store())).value();
  const auto is_user = [&](std::string_view call) {
    return code.IsUserCall(SourcePlace::ParsePythonCall(call));
  };
  EXPECT_TRUE(is_user("$optim.py:10 update"));
  EXPECT_TRUE(is_user("$random.py:10 update"));  // the user has a file of that name
  EXPECT_TRUE(is_user("data/augment.py(12): flip"));
  EXPECT_FALSE(is_user("$numeric.py:1230 roll"));
  EXPECT_FALSE(is_user("$array.py:298 __float__"));
  EXPECT_FALSE(is_user("$_filters.py:555 correlate1d"));
  EXPECT_FALSE(is_user("$numpy asarray"));
  EXPECT_FALSE(is_user("torch/_tensor.py(9): item"));
  EXPECT_FALSE(is_user("transformers/image_transforms.py(390): normalize"));
}

TEST(UserCodeTest, NearIsTheClosestUserLine) {
  RecompileRun run;
  const UserCode code = UserCode::Of(xlaprof::Run(run.store())).value();
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
