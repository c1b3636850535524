// Tests what is said about a profile in which no device was recorded.
#include "analyzers/run/host_ops.h"

#include "analyzers/kinds.h"
#include "analyzers/run/top_ops.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

// Adds a convolution of 100 us, of which 80 us are in the library's own op.
void Convolve(TimedRun& run, int64_t thread, int64_t ts_us) {
  run.Event(thread, TextOf(Category::kHost), "aten::conv2d", ts_us, 100);
  run.Event(thread, TextOf(Category::kHost), "aten::mkldnn_convolution", ts_us + 10, 80);
}

TEST(HostOps, AnOpsTimeExcludesTheOpsInside) {
  TimedRun run;
  const int64_t thread = run.HostThread();
  for (int i = 0; i < 5; ++i) Convolve(run, thread, 110 * i);
  const xlaprof::Run of(run.store());
  const HostOps* host = *of.Get<HostOps>();
  EXPECT_EQ(host->work_ns, 500'000);
  EXPECT_EQ(host->ops.at(run.Interned("aten::conv2d")).self_ns, 100'000);
  EXPECT_EQ(host->ops.at(run.Interned("aten::mkldnn_convolution")).count, 5);
  const TopOps* top = *of.Get<TopOps>();
  ASSERT_EQ(top->devices.size(), 1u);
  EXPECT_EQ(top->devices[0].label, "the host");
  EXPECT_EQ(top->devices[0].ops[0].name, "aten::mkldnn_convolution");
  EXPECT_DOUBLE_EQ(top->devices[0].ops[0].share, 0.8);
}

TEST(HostOps, AreOfNoInterestIfADeviceWasRecorded) {
  TimedRun run;
  Convolve(run, run.HostThread(), 0);
  run.Event(run.Stream(), TextOf(Category::kOp), "kernel", 0, 10);
  const xlaprof::Run of(run.store());
  EXPECT_EQ((*of.Get<HostOps>())->work_ns, 0);
}

TEST(HostOps, LaunchesWithoutAKernelAreAnIncompleteCapture) {
  TimedRun run;
  const int64_t thread = run.HostThread();
  for (int i = 0; i < 3; ++i)
    run.Event(thread, TextOf(Category::kExecute), "cudaLaunchKernel", 10 * i, 5);
  const Findings findings = run.Run(incomplete_capture);
  const auto found = std::ranges::find_if(findings, [](const Finding& finding) {
    return finding.reason->type == ReasonType::kNoKernels;
  });
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->severity, Severity::kWarning);
}

}  // namespace
}  // namespace xlaprof
