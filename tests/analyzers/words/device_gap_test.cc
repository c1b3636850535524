#include "analyzers/device_gap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

Words Say(const DeviceGapFigures& figures, Framework framework = Framework::kUnknown) {
  return SayDeviceGap({.count = 50, .cost_ns = 25'000'000, .figures = figures}, framework);
}

// Returns figures of a device that idles half of the time while the host is in the user's code.
DeviceGapFigures InUserCode() {
  return {.device = "TPU:0",
          .doing = Doing::kUserCode,
          .host_recorded = true,
          .scope = "log",
          .share = 0.5,
          .share_of_ns = 50'000'000,
          .chances = 50,
          .chances_are_steps = true};
}

TEST(DeviceGapWords, TitleNamesTheScope) {
  DeviceGapFigures figures = InUserCode();
  EXPECT_EQ(Say(figures).title,
            "TPU:0 idle 25 ms (50.0 % of the 50 ms of steady steps) in 50 gaps while the host was in scope "
            "'log'");
  figures.scopes = 25;
  EXPECT_EQ(Say(figures).title,
            "TPU:0 idle 25 ms (50.0 % of the 50 ms of steady steps) in 50 gaps while the host was in 25 "
            "scopes, most in 'log'");
}

TEST(DeviceGapWords, TitleTellsWhatTheDeviceWaitedFor) {
  DeviceGapFigures figures = InUserCode();
  figures.share_of = IdleShareOf::kExecutions;
  figures.wait = GapWait::kHostWait;
  EXPECT_EQ(
      Say(figures).title,
      "TPU:0 idle 25 ms (50.0 % of the 50 ms from its first to its last execution) in 50 gaps while the "
      "host was in scope 'log' (the host was late)");
  figures.wait = GapWait::kKernelWait;
  EXPECT_EQ(
      Say(figures).title,
      "TPU:0 idle 25 ms (50.0 % of the 50 ms from its first to its last execution) in 50 gaps while the next kernel was already launched and waited");
}

TEST(DeviceGapWords, CostNoteComparesDevices) {
  DeviceGapFigures figures = InUserCode();
  EXPECT_EQ(Say(figures).cost_note, "idle time of TPU:0 in 50 steady steps.");
  figures.from_ops = true;
  figures.all_devices = IdleOfDevices{.devices = 4, .least_share = 0.1, .most_share = 0.5};
  EXPECT_EQ(Say(figures).cost_note,
            "idle time of TPU:0 in 50 steady steps, measured between its ops. The 4 "
            "devices idle 10.0 to 50.0 %; TPU:0 idles most.");
}

TEST(DeviceGapWords, TheCapturesOwnSettingsComeBeforeAdvice) {
  DeviceGapFigures figures = InUserCode();
  figures.verdict = DeviceGapVerdict::kScopeReads;
  figures.settings.fallback_stacks = true;
  EXPECT_EQ(
      Say(figures).why,
      "The capture's own settings slow this down: PT_XLA_DEBUG; 'log' reads values. The idle time may disappear without them.");
  EXPECT_EQ(Say(figures).advice,
            "Record again without these settings before you act on this finding.");
}

TEST(DeviceGapWords, ProgramsInCppAreToldTheirOwnNames) {
  DeviceGapFigures figures = InUserCode();
  figures.named_by = NamedBy::kStep;
  EXPECT_EQ(
      Say(figures, Framework::kCpp).advice,
      "Put scopes (Trace or XLAPROF_TRACE) around the parts of the step to see which one keeps the device waiting, and move that work off the step's thread.");
  figures.doing = Doing::kTracing;
  EXPECT_EQ(Say(figures, Framework::kCpp).advice,
            "Tracing cannot keep up with the device. Give the device more work per step.");
}

// Regression: a model's forward, which launches the kernels, was to move to a DataLoader.
TEST(DeviceGapWords, OnlyWorkThatLaunchesNothingMovesToTheLoader) {
  DeviceGapFigures figures = InUserCode();
  figures.wait = GapWait::kHostWait;
  figures.calls = {"moe_layer"};
  figures.longest_share = 0.5;
  EXPECT_THAT(Say(figures, Framework::kPytorch).advice, testing::HasSubstr("DataLoader"));
  figures.main_call_launches = true;
  EXPECT_THAT(Say(figures, Framework::kPytorch).advice,
              testing::Not(testing::HasSubstr("DataLoader")));
}

// The advice for a late host in the runtime is about launching too late. A host that copies or
// loads data is slow for that reason, so its advice stays the same.
TEST(DeviceGapWords, ALateHostIsAdvisedByWhatItDoes) {
  DeviceGapFigures figures = InUserCode();
  figures.doing = Doing::kTransfer;
  const std::string copies = Say(figures).advice;
  figures.wait = GapWait::kHostWait;
  EXPECT_EQ(Say(figures).advice, copies);
  figures.doing = Doing::kRuntime;
  EXPECT_TRUE(Say(figures).advice.starts_with("The host launches work too late for the device"));
}

// Regression: the longest of 9,250 gaps, with 0.07 % of their time, gave all of them its advice.
TEST(DeviceGapWords, OneOfThousandsOfGapsSaysNothingAboutTheOthers) {
  DeviceGapFigures figures = InUserCode();
  figures.doing = Doing::kRuntime;
  figures.calls = {"aten::_copy_from"};
  EXPECT_THAT(Say(figures, Framework::kPytorch).advice, testing::HasSubstr("aten::_copy_from"));
  figures.longest_share = 0.0007;
  EXPECT_THAT(Say(figures, Framework::kPytorch).advice,
              testing::AllOf(testing::HasSubstr("many small operations"),
                             testing::Not(testing::HasSubstr("aten::_copy_from"))));
  figures.scope = "Optimizer.step#Adam.step";
  EXPECT_THAT(Say(figures, Framework::kPytorch).advice, testing::HasSubstr("fused=True"));
}

// Regression: 6,072 events of a thread lay around these gaps, and "the host was not recorded".
TEST(DeviceGapWords, AHostWithoutALeaderWasRecorded) {
  DeviceGapFigures figures = InUserCode();
  figures.doing = Doing::kNothing;
  figures.host_recorded = false;
  EXPECT_THAT(Say(figures).title, testing::HasSubstr("the host was not recorded"));
  figures.event_before = "ExecutorState::Process";
  EXPECT_THAT(Say(figures).title,
              testing::HasSubstr("the host's threads were recorded, but not which of them"));
}

// Regression: the program called functions of torch.compile, and was told to use torch.compile.
TEST(DeviceGapWords, CompiledFunctionsAreToReplayTheirLaunches) {
  DeviceGapFigures figures = InUserCode();
  figures.doing = Doing::kRuntime;
  figures.wait = GapWait::kHostWait;
  EXPECT_THAT(Say(figures, Framework::kPytorch).advice,
              testing::HasSubstr("compile the step (torch.compile)"));
  figures.runs_compiled_functions = true;
  EXPECT_THAT(Say(figures, Framework::kPytorch).advice,
              testing::HasSubstr("torch.compile(mode='reduce-overhead')"));
}

}  // namespace
}  // namespace xlaprof
