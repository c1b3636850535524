// Tests the waits for data and the uploads whose share threads of the runtime show.
#include "analyzers/large_transfer.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer input_bound, large_transfer;

namespace {

// Makes twenty steps of 10 ms. The third waits 800 ms for data, which another thread loads in
// `batches` parts.
Findings WaitsFor(int batches) {
  TimedRun run;
  const int64_t host = run.HostThread(), loader = run.HostThread("loader");
  int64_t t = 0;
  for (int i = 0; i < 20; ++i) {
    const int64_t wait_us = i == 2 ? 800'000 : 0;
    if (wait_us > 0) {
      run.Event(host, TextOf(Category::kInput), "DataLoader.__next__", t, wait_us);
      for (int batch = 0; batch < batches; ++batch)
        run.Event(loader, TextOf(Category::kInput), "cpu_loader.next",
                  t + batch * wait_us / batches, wait_us / batches);
    }
    run.Step(host, t, wait_us + 10'000);
    t += wait_us + 10'000;
  }
  return run.Run(input_bound);
}

// Regression: a loader that works ahead makes one step wait for the batches of many.
TEST(InputBound, OneWaitForManyBatchesIsAPattern) {
  const Findings one = WaitsFor(1), many = WaitsFor(16);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].severity, Severity::kInfo);
  ASSERT_EQ(many.size(), 1u);
  EXPECT_NE(many[0].severity, Severity::kInfo);
  EXPECT_EQ(many[0].cost_ns, 800'000'000);
}

// Regression: background uploads were only added to calls outside of any scope. They have the line
// that calls the function, which a log names that was not joined with the profile.
TEST(LargeTransfer, UploadsInTheBackgroundBelongToTheCallsThatStartThem) {
  TimedRun run;
  const int64_t host = run.HostThread(), device = run.Device(), runtime = run.HostThread("pjrt");
  const int64_t site = run.store().AddSite("main", "/home/u/train.py", 43).value();
  EXPECT_TRUE(run.store()
                  .Add(CompileRow{.process_id = 1,
                                  .ordinal = 0,
                                  .cause = CutKind::kCall,
                                  .function = "train_step",
                                  .site_id = site})
                  .ok());
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t t = i * 100'000;
    run.Step(host, t, 100'000);
    run.Event(host, TextOf(Category::kExecute), "PjitFunction(train_step)", t, 200);
    run.Event(host, TextOf(Category::kTransfer), "DevicePut", t + 10, 20);
    EXPECT_TRUE(run.store()
                    .Add(TransferRow{.process_id = 1,
                                     .ordinal = i,
                                     .direction = Direction::kToDevice,
                                     .ts_ns = (t + 10) * 1000,
                                     .dur_ns = 20'000,
                                     .scope = "train",
                                     .track_id = host})
                    .ok());
    run.Event(runtime, TextOf(Category::kTransfer), "H2D Dispatch", t + 30, 60'000);
    run.Event(device, TextOf(Category::kModule), "jit_train_step", t + 61'000, 39'000);
  }
  const Findings found = run.Run(large_transfer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kToDevice);
  EXPECT_EQ(found[0].subject.line, 43);
  EXPECT_NEAR(double(*found[0].cost_ns), 600e6, 10e6);
}

}  // namespace
}  // namespace xlaprof
