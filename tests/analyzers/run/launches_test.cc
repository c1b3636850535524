// Tests what a device waits for if the host feeds it call by call.
#include "analyzers/run/launches.h"

#include "analyzers/device_gap.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer device_gap;

namespace {

// Makes twenty kernels of 80 us, one every 100 us. A call that took `call_us` launched each of them
// `early_us` before it ran.
class Launched : public testing::Test {
 protected:
  Findings Run(int64_t early_us, int64_t call_us, bool joined = true) {
    const int64_t host = run_.HostThread(), stream = run_.Stream();
    run_.Step(host, 0, 2000);
    for (int i = 0; i < 20; ++i) {
      const int64_t ts = 100 * i + 20;
      const uint64_t flow = joined ? uint64_t(i + 1) : 0;
      run_.Flow(host, TextOf(Category::kExecute), "cudaLaunchKernel", ts - early_us, call_us, 0,
                flow);
      run_.Flow(stream, TextOf(Category::kOp), "kernel", ts, 80, flow, 0);
    }
    return run_.Run(device_gap);
  }
  TimedRun run_;
};

TEST_F(Launched, LateHost) {
  Findings found = Run(10, 5);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].reason->type, ReasonType::kHostWait);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(std::any_cast<const DeviceGapFigures&>(found[0].figures).wait, GapWait::kHostWait);
}

TEST_F(Launched, SlowCall) {
  Findings found = Run(30, 29);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].reason->type, ReasonType::kLaunch);
  EXPECT_EQ(found[0].count, 20);
}

TEST_F(Launched, QueuedWork) {
  Findings found = Run(90, 5);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].reason->type, ReasonType::kKernelWait);
}

TEST_F(Launched, WithoutFlowsOnlyTheHostIsTold) {
  Findings found = Run(90, 5, false);
  ASSERT_FALSE(found.empty());
  for (const Finding& finding : found) {
    EXPECT_NE(finding.reason->type, ReasonType::kKernelWait);
    EXPECT_NE(finding.reason->type, ReasonType::kHostWait);
    EXPECT_NE(finding.reason->type, ReasonType::kLaunch);
  }
}

TEST_F(Launched, EdgesBetweenTheThree) {
  Run(10, 5);
  auto times = DeviceTimes::Of(xlaprof::Run(run_.store()));
  ASSERT_TRUE(times.ok());
  ASSERT_EQ(times->devices.size(), 1u);
  // The call begins at 110 us, and the kernel at 120 us.
  auto wait = [&](int64_t begin_ns, int64_t end_ns) {
    const Interval gap{begin_ns, end_ns};
    auto waits = GapWaits(xlaprof::Run(run_.store()), times->devices.front(), {&gap, 1});
    EXPECT_TRUE(waits.ok()) << waits.status();
    return waits->at(0);
  };
  EXPECT_EQ(wait(110'000, 120'000), GapWait::kHostWait);
  EXPECT_EQ(wait(110'001, 120'000), GapWait::kLaunch);
  EXPECT_EQ(wait(114'999, 120'000), GapWait::kLaunch);
  EXPECT_EQ(wait(115'000, 120'000), GapWait::kKernelWait);
  EXPECT_EQ(wait(110'000, 119'000), GapWait::kUnknown);  // no event begins there
}

TEST(LaunchesIn, OnlyInsideOfTheScope) {
  TimedRun run;
  const int64_t host = run.HostThread();
  run.Event(host, TextOf(Category::kScope), "augment", 0, 100);
  run.Event(host, TextOf(Category::kScope), "forward", 200, 100);
  run.Event(host, TextOf(Category::kExecute), "cudaLaunchKernel", 250, 5);
  run.Event(host, TextOf(Category::kScope), "augment", 400, 100);
  EXPECT_FALSE(LaunchesIn(xlaprof::Run(run.store()), 1, run.Interned("augment")).value());
  EXPECT_TRUE(LaunchesIn(xlaprof::Run(run.store()), 1, run.Interned("forward")).value());
}

}  // namespace
}  // namespace xlaprof
