#include "analyzers/run/steady_step.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

TEST(SteadyStep, HostSumsToTheStepAndDevicesToo) {
  TimedRun run;
  int64_t host = run.HostThread(), device = run.Device();
  for (int i = 0; i < 10; ++i) {
    run.Step(host, i * 1000, 1000);
    run.Event(host, TextOf(Category::kTracing), "trace", i * 1000 + 100, 300);
    run.Event(device, TextOf(Category::kModule), "step", i * 1000 + 400, 250);
  }
  auto steady = SteadyStep::Of(xlaprof::Run(run.store()));
  ASSERT_TRUE(steady.ok()) << steady.status();
  ASSERT_GT(steady->steps, 0);
  EXPECT_EQ(steady->step_ns, 1'000'000);
  ASSERT_EQ(steady->host.size(), 2u);
  EXPECT_EQ(steady->host[0].doing, Doing::kUserCode);
  EXPECT_EQ(steady->host[0].ns, 700'000);
  EXPECT_EQ(steady->host[1].doing, Doing::kTracing);
  EXPECT_EQ(steady->host[1].ns, 300'000);
  EXPECT_EQ(steady->device_busy_ns, 250'000);
  EXPECT_EQ(steady->device_idle_ns, 750'000);
}

TEST(SteadyStep, EmptyWithoutTimes) {
  TimedRun run;
  auto steady = SteadyStep::Of(xlaprof::Run(run.store()));
  ASSERT_TRUE(steady.ok()) << steady.status();
  EXPECT_EQ(steady->steps, 0);
  EXPECT_FALSE(steady->device_busy_ns);
}

}  // namespace
}  // namespace xlaprof
