#include "profiler/import/text/python_frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace xlaprof {
namespace {

TEST(ParseFrame, ReadsFunctionFileAndLine) {
  auto frame = ParseFrame("  train (/x/train.py:44)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->function, "train");
  EXPECT_EQ(frame->file, "/x/train.py");
  EXPECT_EQ(frame->line, 44);
  EXPECT_TRUE(frame->is_user());
}

TEST(ParseFrame, ReadsOddNames) {
  auto frame = ParseFrame("  <module> (/x/a (1).py:3)\r");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->function, "<module>");
  EXPECT_EQ(frame->file, "/x/a (1).py");
  frame = ParseFrame("  run (<frozen runpy>:88)");
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->is_user());
  frame = ParseFrame("f (C:\\a.py:12)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->file, "C:\\a.py");
}

TEST(ParseFrame, PassesOverThePrefixOfACollector) {
  for (const char* line :
       {"2021-04-19 13:28:12 10.164.0.25 [0]   body (/x/t.py:10)", "(worker 3)   body (/x/t.py:10)",
        "node (gpu 3)   body (/x/t.py:10)", "body (/x/t.py:10)"}) {
    auto frame = ParseFrame(line);
    ASSERT_TRUE(frame) << line;
    EXPECT_EQ(frame->function, "body") << line;
    EXPECT_EQ(frame->file, "/x/t.py") << line;
  }
}

TEST(ParseFrame, RefusesOtherText) {
  for (const char* line :
       {"", "  ", ")", "  ..........", "  body (/x/t.py)", "  body /x/t.py:10)",
        "  body (/x/t.py:ten)", "  user torch_xla.sync", "(:1)", "  body (/x/t.py:-4)"}) {
    EXPECT_FALSE(ParseFrame(line)) << line;
  }
}

TEST(CauseFromText, KnowsEverySpelling) {
  const std::pair<const char*, const char*> kCases[] = {
      {"user torch_xla.sync", "user_sync"},
      {"user mark_step", "user_sync"},
      {"torch_xla.sync in parallel loader at step end", "parallel_loader"},
      {"mark_step in parallel loader at step end", "parallel_loader"},
      {"user `mark_step` in parallel loader at step end", "parallel_loader"},
      {"torch_xla.sync when exiting a profiler StepTrace region", "step_trace_exit"},
      {"mark_step when exiting a profiler StepTrace region", "step_trace_exit"},
      {"torch_xla.sync when dynamo processing input graphs", "dynamo_inputs"},
      {"mark_step when dynamo processing input graphs", "dynamo_inputs"},
      {"dynamo is compiling a FX graph to HLO", "dynamo_compile"},
      {"dynamo is executing a compiled program", "dynamo_execute"},
      {"torch_xla.compile", "torch_xla_compile"},
      {"`torch_xla.compile()`", "torch_xla_compile"},
      {"torch_xla.compile clear the pending graph prior calling the target function",
       "compile_clear_pending"},
      {"most likely user code trying to access tensor value before torch_xla.sync", "value_access"},
      {"most likely user code trying to access tensor value before mark_step", "value_access"},
      {"`torch_xla.sync()` in parallel loader at step end", "parallel_loader"},
      {"something new", "unknown"},
  };
  for (auto [text, cause] : kCases) EXPECT_EQ(TextOf(CauseFromText(text)), cause) << text;
}

TEST(CauseFromFrames, FollowsTheOutwardScan) {
  using Frames = std::vector<Store::Frame>;
  Store::Frame sync{"sync", "/v/torch_xla/torch_xla.py", 87};
  EXPECT_EQ(CauseFromFrames(Frames{}), CutKind::kUnknown);
  EXPECT_EQ(CauseFromFrames(Frames{sync, {"<module>", "/x/t.py", 3, CodeOwner::kUser}}), CutKind::kUserSync);
  EXPECT_EQ(
      CauseFromFrames(Frames{sync, {"next", "/v/torch_xla/distributed/parallel_loader.py", 34}}),
      CutKind::kParallelLoader);
  EXPECT_EQ(CauseFromFrames(Frames{sync, {"__exit__", "/v/torch_xla/debug/profiler.py", 179}}),
            CutKind::kStepTraceExit);
  EXPECT_EQ(CauseFromFrames(Frames{{"mark_step", "/v/torch_xla/core/xla_model.py", 1}}),
            CutKind::kUserSync);
  // A user's own function named sync is not a step mark.
  EXPECT_EQ(CauseFromFrames(Frames{{"sync", "/x/t.py", 3, CodeOwner::kUser}}), CutKind::kValueAccess);
  EXPECT_EQ(
      CauseFromFrames(Frames{{"extract_graph_helper", "/v/torch_xla/_dynamo/dynamo_bridge.py", 3}}),
      CutKind::kDynamoCompile);
}

TEST(CauseFromFrames, KnowsTheFunctionsOfOurLazyRuntime) {
  const auto cause = [](const char* innermost) {
    const Store::Frame frame = *ParseFrame(innermost);
    EXPECT_FALSE(frame.is_user()) << innermost;
    return CauseFromFrames(std::vector{frame, *ParseFrame("  Train (/x/train.cc:44)")});
  };
  EXPECT_EQ(cause("  xlaprof::lazy::sync (core/trace/step.cc:65)"), CutKind::kUserSync);
  EXPECT_EQ(cause("  xlaprof::lazy::mark_step (core/trace/step.cc:61)"), CutKind::kUserSync);
  EXPECT_EQ(cause("  xlaprof::lazy::ParallelLoader::next (core/trace/loader.cc:152)"),
            CutKind::kParallelLoader);
  EXPECT_EQ(cause("  xlaprof::lazy::StepTrace::~StepTrace (core/trace/step.cc:136)"),
            CutKind::kStepTraceExit);
  EXPECT_TRUE(ParseFrame("  Train (core/trace/step.cc:1)")->is_user())
      << "a user may have this path";
}

TEST(IsUserFile, ToldFromLibraries) {
  EXPECT_TRUE(IsUserFile("/home/user/train/train.py"));
  EXPECT_TRUE(IsUserFile("train.py"));
  EXPECT_TRUE(IsUserFile("<ipython-input-7-0c5a3d9f1e2b>"));
  EXPECT_TRUE(IsUserFile("<stdin>"));
  for (const char* file :
       {"/v/lib/python3.11/site-packages/torch_xla/torch_xla.py", "/usr/lib/python3.11/runpy.py",
        "/src/pytorch/torch/nn/modules/module.py", "/src/pytorch/torch/_tensor.py",
        "/workspaces/pytorch/xla/torch_xla/core/xla_model.py", "<string>", ""}) {
    EXPECT_FALSE(IsUserFile(file)) << file;
  }
}

// Regression: all files in a folder named torch passed for the library's, so no report named a line.
TEST(IsUserFile, FoldersMayHaveTheNamesOfLibraries) {
  for (const char* file :
       {"/home/u/torch/bert/train.py", "/home/u/torch_xla/examples/train_resnet_base.py",
        "/home/u/torch/nn/train.py", "/home/u/multiprocessing/loader.py"})
    EXPECT_TRUE(IsUserFile(file)) << file;
}

}  // namespace
}  // namespace xlaprof
