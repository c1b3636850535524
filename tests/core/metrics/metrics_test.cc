#include "core/metrics/metrics.h"

#include <gmock/gmock.h>

#include <thread>

#include "core/trace/functions.h"

namespace xlaprof::lazy {
namespace {

using testing::HasSubstr;
using testing::Le;
using testing::Not;

// Runs `f` in a thread in which calls are counted from zero.
template <class F>
void InNewThread(F&& f) {
  std::thread(std::forward<F>(f)).join();
}

TEST(SampledCall, StandsForTheCallsSinceTheOneBefore) {
  metrics::Metric metric(metrics::Unit::kTimeNs);
  InNewThread([&] {
    const auto call = [&](int times) {
      for (int i = 0; i < times; ++i) metrics::SampledCall sampled(metric);
    };
    call(2);
    EXPECT_EQ(metric.data().count, 2) << "the first are timed one by one";
    call(62 + 63);
    EXPECT_EQ(metric.data().count, 64);
    call(1);
  });
  const metrics::MetricData data = metric.data();
  EXPECT_EQ(data.count, 128);
  ASSERT_EQ(data.samples.size(), 65);
  EXPECT_EQ(data.samples.back().count, 64);
  double total = 0;
  for (const metrics::Sample& sample : data.samples) total += sample.value * double(sample.count);
  EXPECT_EQ(data.total, total);
}

TEST(LazyTracing, CountsTheOperationsThatCountersCount) {
  clear_all();
  InNewThread([] {
    Tensor x = ones({2});
    for (int i = 0; i < 500; ++i) x = x + x;
  });
  int64_t calls = 0;
  for (const std::string& name : counter_names()) {
    if (name.starts_with("xla::")) calls += *counter_value(name);
  }
  EXPECT_GE(calls, 500);
  const auto tracing = metric_data("LazyTracing");
  ASSERT_TRUE(tracing);
  EXPECT_GT(tracing->count, calls - 64);
  EXPECT_THAT(tracing->count, Le(calls));
  EXPECT_THAT(metrics_report(), HasSubstr("Metric: LazyTracing\n  TotalSamples: "));
  clear_metrics();
  EXPECT_THAT(metrics_report(), Not(HasSubstr("LazyTracing")));
}

TEST(Metrics, AnExecutionTimesWhatItTakesAndGives) {
  clear_all();
  const float values[] = {1, 2};
  const Tensor x = Tensor::FromHost<float>(values, {2});
  EXPECT_EQ(sum(x + x).item(), 6);
  for (const char* name : {"IrValueTensorToXlaData", "UnwrapXlaData", "WrapXlaData"}) {
    const auto metric = metric_data(name);
    ASSERT_TRUE(metric) << name;
    EXPECT_GE(metric->count, 1) << name;
  }
}

}  // namespace
}  // namespace xlaprof::lazy
