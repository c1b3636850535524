#include "analyzers/slow_execution.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(SlowExecutionWords, MetricsAskForARecording) {
  const Finding finding{.count = 2,
                        .evidence = {{.table = "metric", .rows = {1}, .text = "ExecuteTime"}},
                        .figures = SlowExecutionFigures{.found = SlowExecutions::kTooLongSamples,
                                                        .longest_ns = 31'000'000'000,
                                                        .threshold_ns = 30'000'000'000}};
  const Words words = SaySlowExecution(finding, Framework::kUnknown);
  EXPECT_EQ(words.title, "about 2 executions of over 30 s each, the longest seen 31 s");
  EXPECT_EQ(words.unseen->what, "the device's ops");
  EXPECT_EQ(words.unseen->shown_by, RecordingKind::kProfile);
  EXPECT_TRUE(words.evidence.empty());
}

TEST(SlowExecutionWords, OutliersAreComparedWithTheirGraph) {
  const Words words =
      SaySlowExecution({.count = 1,
                        .evidence = {{.table = "execution", .rows = {1}, .dur_ns = 50'000'000}},
                        .figures = SlowExecutionFigures{.found = SlowExecutions::kOutliers,
                                                        .longest_ns = 50'000'000,
                                                        .graph_executions = 10,
                                                        .graph_median_ns = 10'000'000,
                                                        .outlier_factor = 5}},
                       Framework::kUnknown);
  EXPECT_EQ(
      words.title,
      "1 of 10 executions of a graph took at least 5 times the median (10 ms), the longest 50 ms");
  EXPECT_EQ(words.evidence, std::vector<std::string>{"50 ms"});
}

}  // namespace
}  // namespace xlaprof
