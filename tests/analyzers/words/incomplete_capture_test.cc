#include "analyzers/incomplete_capture.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

Words Say(ReasonType type, IncompleteCaptureFigures figures = {},
          Framework framework = Framework::kUnknown) {
  return SayIncompleteCapture({.reason = Reason{.type = type}, .figures = std::move(figures)},
                              framework);
}

TEST(IncompleteCaptureWords, StepsAreMarkedAsTheFrameworkDoes) {
  constexpr ReasonType kType = ReasonType::kNoStepMarkers;
  const std::string longer = " If steps are already marked, trace for longer than one step.";
  EXPECT_EQ(Say(kType).advice, "Mark each step with the framework's step annotation." + longer);
  EXPECT_EQ(Say(kType, {.is_torch_profile = true}).advice,
            "Give torch.profiler.profile a schedule (schedule=torch.profiler.schedule(wait=2, "
            "warmup=1, active=10)) and call prof.step() after each step. Without a schedule, "
            "prof.step() marks nothing." +
                longer);
  EXPECT_EQ(Say(kType, {.is_torch_profile = true}, Framework::kCpp).advice,
            "Mark each step: StepTrace step(\"train\", i)." + longer);
  EXPECT_EQ(
      Say(kType, {}, Framework::kJax).advice,
      "Run each step in `with jax.profiler.StepTraceAnnotation('train', step_num=i):`." + longer);
}

// torch_xla raises RuntimeError at a sync inside a StepTrace, and the user's run is lost.
TEST(IncompleteCaptureWords, StepTraceReplacesTheSync) {
  EXPECT_TRUE(
      Say(ReasonType::kNoStepMarkers, {}, Framework::kPytorchXla)
          .advice.starts_with("Run each step in `with torch_xla.debug.profiler.StepTrace('train', "
                              "step_num=i):` in place of torch_xla.sync()"));
}

// Regression: the program ran its steps in StepTrace, and was told to do so.
TEST(IncompleteCaptureWords, StepsThatAreTracedNeedALongerProfile) {
  EXPECT_TRUE(Say(ReasonType::kNoStepMarkers, {.steps_are_traced = true}, Framework::kPytorchXla)
                  .advice.starts_with("Trace for longer than one step."));
}

TEST(IncompleteCaptureWords, CppProgramsReportTheirMetrics) {
  EXPECT_EQ(Say(ReasonType::kNoCounters, {}, Framework::kCpp).advice,
            "Report on the whole text that metrics_report() returns.");
  EXPECT_EQ(Say(ReasonType::kNoExecutions, {}, Framework::kCpp).advice,
            "Report on the whole text that metrics_report() returns after some steps.");
}

TEST(IncompleteCaptureWords, WhatRunRecordedIsRecordedByItsOptions) {
  const auto advice = [](ReasonType type) {
    return Say(type, {.is_recorded_by_run = true}).advice;
  };
  EXPECT_EQ(advice(ReasonType::kWindow),
            "To time others, name the steps to profile with --steps A:B.");
  EXPECT_EQ(advice(ReasonType::kNoClock),
            "Let the program run for more steps, so that some are profiled.");
}

TEST(IncompleteCaptureWords, SettingsAreSwitchedOffForTimesThatCount) {
  constexpr ReasonType kType = ReasonType::kRecordingOverhead;
  const IncompleteCaptureFigures debug{.setting = SettingName::kIrDebug,
                                       .setting_value = "1",
                                       .setting_evidence = "graphs have lines"};
  EXPECT_EQ(Say(kType, debug).title, "the run was slowed by IR debugging");
  EXPECT_EQ(Say(kType, debug).why, "graphs have lines");
  EXPECT_EQ(Say(kType, debug).evidence,
            std::vector<std::string>{"ir_debug = 1: graphs have lines"});
  EXPECT_EQ(
      Say(kType, debug).advice,
      "It records a Python stack at every op, which distorts these timings. Record again without XLA_IR_DEBUG and XLA_HLO_DEBUG.");
  EXPECT_EQ(
      Say(kType, debug, Framework::kCpp).advice,
      "It records a C++ stack at every op, which distorts these timings. Record again without XLA_IR_DEBUG and XLA_HLO_DEBUG.");
  EXPECT_EQ(Say(kType, {.setting = SettingName::kIrDebug, .is_recorded_by_run = true}).advice,
            "It records a Python stack at every op, which distorts these timings. Record again without --full and without XLA_IR_DEBUG and XLA_HLO_DEBUG.");
  EXPECT_EQ(Say(kType, {.setting = SettingName::kWithStack, .setting_value = "on"}).title,
            "the run was recorded with with_stack = on");
}

}  // namespace
}  // namespace xlaprof
