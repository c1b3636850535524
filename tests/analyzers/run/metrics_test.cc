#include "analyzers/run/metrics.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

TEST(Metrics, TheRecentPartIsTheDifferenceToTheMiddleOfTheRun) {
  TimedRun run;
  for (int64_t marks : {1, 5, 10}) {
    run.Metric(run.Report(marks), "CompileTime", MetricUnit::kNs, marks == 1 ? 1 : 3,
               marks == 1 ? 1e9 : 4e9);
  }
  Metrics metrics = Metrics::Of(xlaprof::Run(run.store())).value();
  ASSERT_TRUE(metrics.last && metrics.recent);
  EXPECT_EQ(metrics.last->Find("CompileTime")->samples, 3);
  EXPECT_EQ(metrics.recent->mark_step, 5);
  EXPECT_EQ(metrics.recent->Find("CompileTime")->samples, 0);
  EXPECT_EQ(metrics.steady(), &*metrics.recent);
}

// Regression: a metric that the middle report did not change counted from the start of the run.
TEST(Metrics, AMetricThatDidNotChangeKeepsItsValue) {
  TimedRun run;
  run.Metric(run.Report(4), "OutboundData", MetricUnit::kBytes, 40, 4e6);
  run.Report(5);
  run.Metric(run.Report(10), "OutboundData", MetricUnit::kBytes, 60, 6e6);
  const Metrics metrics = Metrics::Of(xlaprof::Run(run.store())).value();
  ASSERT_TRUE(metrics.recent);
  EXPECT_EQ(metrics.recent->mark_step, 5);
  EXPECT_EQ(metrics.recent->Find("OutboundData")->samples, 20);
}

// A loader marks after the program has marked, and then nothing is executed.
TEST(Metrics, ThereAreNoMoreStepsThanExecutions) {
  TimedRun run;
  for (const int64_t marks : {10, 20}) {
    run.Metric(run.Report(marks), "ExecuteTime", MetricUnit::kNs, marks / 2, double(marks) * 1e9);
  }
  const Metrics metrics = Metrics::Of(xlaprof::Run(run.store())).value();
  ASSERT_TRUE(metrics.last && metrics.recent);
  EXPECT_EQ(metrics.last->mark_step, 10);
  EXPECT_EQ(metrics.recent->mark_step, 5);
}

TEST(Metrics, OneReportHasNoRecentPart) {
  TimedRun run;
  run.Metric(run.Report(10), "CompileTime", MetricUnit::kNs, 3, 4e9);
  Metrics metrics = Metrics::Of(xlaprof::Run(run.store())).value();
  EXPECT_FALSE(metrics.recent);
  EXPECT_EQ(metrics.steady(), &*metrics.last);
  EXPECT_EQ(metrics.last->Find("ExecuteTime"), nullptr);
}

TEST(Metrics, ARegistryThatWasClearedGivesNoDifference) {
  TimedRun run;
  run.Metric(run.Report(5), "ExecuteTime", MetricUnit::kNs, 50, 5e9);
  run.Metric(run.Report(10), "ExecuteTime", MetricUnit::kNs, 5, 1e9);
  EXPECT_FALSE(Metrics::Of(xlaprof::Run(run.store())).value().recent);
}

TEST(Metrics, Empty) {
  TimedRun run;
  Metrics metrics = Metrics::Of(xlaprof::Run(run.store())).value();
  EXPECT_EQ(metrics.steady(), nullptr);
}

}  // namespace
}  // namespace xlaprof
