// Tests which metrics report missing_step_mark judges.
#include <gtest/gtest.h>

#include "analyzers/run/metric_counts.h"

namespace xlaprof {
namespace {

class LastTracingTest : public testing::Test {
 protected:
  // Adds a report with these samples of LazyTracing and of EagerOpExecuteTime.
  int64_t Report(OptInt traced, OptInt eager = {}) {
    const int64_t id = store_.Add(MetricsReportRow{.source_id = 1, .ordinal = reports_++}).value();
    if (traced) Metric(id, "LazyTracing", traced);
    if (eager) Metric(id, "EagerOpExecuteTime", eager);
    Metric(id, "ExecuteTime", 4);
    return id;
  }
  void Metric(int64_t report, const char* name, OptInt samples) {
    ASSERT_TRUE(store_.Add(MetricRow{.report_id = report, .name = name, .samples = samples}).ok());
  }
  void Counter(int64_t report) {
    ASSERT_TRUE(
        store_.Add(CounterRow{.report_id = report, .name = "CreateDataHandles", .value = 1}).ok());
  }
  LastTracing Last() { return LastTracing::Of(xlaprof::Run(store_)).value(); }

  Store store_ = Store::CreateTemporary().value();
  int64_t reports_ = 0;
};

TEST_F(LastTracingTest, IsOfTheLastReportThatTimesTracing) {
  Report(1000);
  Counter(Report(2000));
  Report({});
  const LastTracing last = Last();
  EXPECT_EQ(last.traced_operations, 2000);
  EXPECT_EQ(last.executions, 4);
  EXPECT_TRUE(last.shows_counters);
}

TEST_F(LastTracingTest, IsOfTheLazyReportBeforeAnEagerOne) {
  Report(1000);
  Counter(Report(2000, /*eager=*/50));
  const LastTracing last = Last();
  EXPECT_EQ(last.traced_operations, 1000);
  EXPECT_TRUE(last.shows_counters);
}

TEST_F(LastTracingTest, CountersAreOfTheLastReport) {
  Counter(Report(1000));
  Report(2000);
  EXPECT_FALSE(Last().shows_counters);
}

TEST_F(LastTracingTest, IsEmptyIfAllIsEager) {
  Counter(Report(1000, /*eager=*/50));
  EXPECT_FALSE(Last().traced_operations);
}

TEST_F(LastTracingTest, IsEmptyWithoutTracing) {
  Counter(Report({}));
  EXPECT_FALSE(Last().traced_operations);
  EXPECT_FALSE(Last().shows_counters);
}

}  // namespace
}  // namespace xlaprof
