#include "analyzers/tracing_bound.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

Words Say(const TracingBoundFigures& figures, ReasonType reason) {
  return SayTracingBound(
      {.count = 10, .cost_ns = 3'000'000, .reason = Reason{.type = reason}, .figures = figures},
      Framework::kUnknown);
}

TEST(TracingBoundWords, TheTimelineTellsShareAndBusyTime) {
  TracingOnTimeline seen{.step_ns = 10'000'000};
  EXPECT_EQ(Say({.seen = seen}, ReasonType::kAboutTheStepTime).title,
            "tracing takes 300 us per step, 30 % of the step time");
  seen.busy_ns = 2'000'000;
  seen.in_scopes = true;
  EXPECT_EQ(
      Say({.seen = seen}, ReasonType::kAboveDeviceBusyTime).title,
      "tracing and the scopes around it take 300 us per step, 30 % of the step time; the device is busy 200 us per step");
}

TEST(TracingBoundWords, MetricsTellThatTheyAreAlone) {
  TracingInMetrics seen{.execute_sum_ns = 1'000'000, .share = 0.07};
  TracingBoundFigures figures{.seen = seen};
  EXPECT_EQ(Say(figures, ReasonType::kAboveDeviceBusyTime).title,
            "tracing takes 300 us per step in C++ alone, execution 100 us; about 7 % of the time when it was last "
            "measured");
  seen.process_ns = 43'000'000;
  EXPECT_EQ(Say({.seen = seen}, ReasonType::kAboveDeviceBusyTime).title,
            "tracing takes 300 us per step in C++ alone, execution 100 us; about 7 % of the 43 ms that the "
            "process ran");
  EXPECT_EQ(Say(figures, ReasonType::kAboveDeviceBusyTime).why,
            "Only metrics show this. Step times would show whether tracing bounds the step.");
  figures.settings.dumps = true;
  EXPECT_EQ(Say(figures, ReasonType::kCaptureSettings).why,
            "The capture's own settings slow tracing down: XLA_SAVE_TENSORS_FILE. Record again "
            "without them.");
}

}  // namespace
}  // namespace xlaprof
