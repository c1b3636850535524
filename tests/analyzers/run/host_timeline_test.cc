#include "analyzers/run/host_timeline.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

class HostActivity : public testing::Test {
 protected:
  // Returns the microseconds of each activity, as "tracing forward 12; ...", longest first.
  std::string During(int64_t from_us, int64_t to_us) {
    Store& store = run_.store();
    Interval all{from_us * 1000, to_us * 1000};
    auto host = HostTimeline::Of(xlaprof::Run(store), 1).value();
    HostTimeline::Walk walk(host);
    std::string out;
    for (const ActivityShare& share : walk.During(all)) {
      out += fmt::format("{}{}/{} {}", out.empty() ? "" : "; ", TextsOf(share.activity.doing).text,
                         store.Text(share.activity.scope), share.ns / 1000);
    }
    return out;
  }
  TimedRun run_;
};

TEST_F(HostActivity, InnermostOpenEventCounts) {
  int64_t host = run_.HostThread();
  run_.Step(host, 0, 100);
  run_.Event(host, TextOf(Category::kScope), "forward", 10, 40);
  run_.Event(host, TextOf(Category::kTracing), "SyncTensorsGraph", 20, 20);
  run_.Event(host, TextOf(Category::kHost), "RunPostOrder", 25, 5);  // part of tracing
  run_.Event(host, TextOf(Category::kCompile), "Compile", 32, 4);
  run_.Event(host, TextOf(Category::kTracing), "lowering", 33, 2);  // part of the compilation
  run_.Event(host, TextOf(Category::kHost), "Wait", 60, 10);
  EXPECT_EQ(During(0, 100),
            "user code/train 50; user code/forward 20; tracing/forward 16; runtime/train 10; "
            "compilation/forward 4");
}

// The profile recorded Python's calls. A function that launches is the loop, not work of the host.
TEST_F(HostActivity, AFunctionThatOnlyTheHostRunsIsTheUsersCode) {
  const int64_t host = run_.HostThread();
  const auto call = [&](std::string_view name, int64_t ts_us, int64_t dur_us) {
    run_.Event(host, TextOf(Category::kPython), name, ts_us, dur_us);
  };
  call("$train.py:20 train", 0, 200);
  run_.Event(host, TextOf(Category::kExecute), "PjitFunction(step)", 5, 10);
  call("$stream.py:20 batches", 20, 60);
  call("$stream.py:23 <listcomp>", 30, 40);
  call("$numeric.py:1230 roll", 35, 10);
  run_.Event(host, TextOf(Category::kHost), "Wait", 50, 5);
  run_.Event(host, TextOf(Category::kScope), "log", 100, 50);
  call("$log.py:3 write", 110, 20);
  EXPECT_EQ(During(0, 200),
            "nothing recorded/ 80; user code/$stream.py:20 batches 55; user code/log 50; "
            "asking for an execution/ 10; runtime/$stream.py:20 batches 5");
}

TEST_F(HostActivity, UnrecordedTimeBeforeSomethingEndsWithIt) {
  const int64_t host = run_.HostThread();
  run_.Event(host, TextOf(Category::kExecute), "Execute", 0, 10);
  run_.Event(host, TextOf(Category::kTransfer), "TransferToDevice", 40, 5);
  run_.Event(host, TextOf(Category::kHost), "StepMarker", 60, 10);
  run_.Event(host, TextOf(Category::kHost), "Allocate", 90, 5);
  run_.Event(host, TextOf(Category::kTransfer), "TransferToDevice", 95, 5);
  const HostTimeline timeline = HostTimeline::Of(xlaprof::Run(run_.store()), 1).value();
  EXPECT_EQ(timeline.leading_thread(), host);
  const std::vector<int64_t> uploads{40'000, 95'000};
  EXPECT_EQ(timeline.UnrecordedBefore({0, 100'000}, uploads), 50'000);  // 10 to 40, 70 to 90
  EXPECT_EQ(timeline.UnrecordedBefore({20'000, 80'000}, uploads), 20'000);
  EXPECT_EQ(timeline.UnrecordedBefore({41'000, 90'000}, uploads), 0);
}

// Autograd's thread launches what the function on the main thread asks for.
TEST_F(HostActivity, AFunctionForWhichAnotherThreadLaunchesIsNotTheHostsAlone) {
  const int64_t host = run_.HostThread(), autograd = run_.HostThread("pt_autograd_0");
  run_.Interned("cpu_op");  // PyTorch's own profiler recorded it
  run_.Step(host, 0, 100);
  run_.Event(host, TextOf(Category::kPython), "loss.py(4): backward", 10, 50);
  run_.Event(host, TextOf(Category::kPython), "data.py(8): crop", 70, 20);
  run_.Event(autograd, TextOf(Category::kExecute), "cudaLaunchKernel", 30, 5);
  EXPECT_EQ(During(0, 100),
            "user code/train 75; user code/data.py(8): crop 20; asking for an execution/train 5");
}

TEST_F(HostActivity, ALoadersThreadCountsBetweenStepsOnly) {
  int64_t host = run_.HostThread(), loader = run_.HostThread("loader");
  run_.Step(host, 0, 50);
  run_.Step(host, 80, 20);
  run_.Event(loader, TextOf(Category::kInput), "cpu_loader.next", 30, 45);
  EXPECT_EQ(During(0, 100), "user code/train 70; waiting for data/ 25; nothing recorded/ 5");
}

TEST_F(HostActivity, AThreadThatLaunchesCountsWhereTheLeadingThreadWaitsForIt) {
  int64_t host = run_.HostThread(), autograd = run_.HostThread("pt_autograd_0");
  run_.Interned("cpu_op");  // PyTorch's own profiler recorded it
  run_.Step(host, 0, 100);
  run_.Event(host, TextOf(Category::kHost), "aten::conv2d", 0, 20);
  run_.Event(autograd, TextOf(Category::kHost), "ConvolutionBackward0", 10, 60);
  run_.Event(autograd, TextOf(Category::kExecute), "cudaLaunchKernel", 30, 5);
  run_.Event(autograd, TextOf(Category::kHost), "hipFree", 40, 25);
  EXPECT_EQ(
      During(0, 100),
      "runtime/train 40; user code/train 30; in the driver's allocator/train 25; asking for an execution/train 5");
}

TEST_F(HostActivity, XlasThreadsDoNotHideTheUsersCode) {
  int64_t host = run_.HostThread(), pool = run_.HostThread("XLAPjRtCpuClient");
  run_.Step(host, 0, 60);
  run_.Event(pool, TextOf(Category::kExecute), "ExecuteComputation", 10, 80);
  EXPECT_EQ(During(0, 100),
            "user code/train 60; asking for an execution/ 30; nothing recorded/ 10");
}

TEST_F(HostActivity, AThreadThatLaunchesNothingDoesNotCount) {
  int64_t host = run_.HostThread(), other = run_.HostThread("pin_memory");
  run_.Step(host, 0, 100);
  run_.Event(other, TextOf(Category::kHost), "aten::copy_", 10, 60);
  EXPECT_EQ(During(0, 100), "user code/train 100");
}

TEST_F(HostActivity, CapturingAGraphIsNotLaunching) {
  int64_t host = run_.HostThread();
  run_.Event(host, TextOf(Category::kScope), "capture", 0, 100);
  run_.Event(host, TextOf(Category::kHost), "cudaStreamBeginCapture", 10, 1);
  run_.Event(host, TextOf(Category::kExecute), "cudaLaunchKernel", 30, 20);
  run_.Event(host, TextOf(Category::kHost), "cudaStreamEndCapture", 80, 1);
  EXPECT_EQ(During(0, 100),
            "capture of a CUDA graph/capture 70; user code/capture 29; runtime/capture 1");
}

TEST_F(HostActivity, CompilingElsewhereExplainsAnIdleThread) {
  int64_t host = run_.HostThread(), pool = run_.HostThread("pool");
  run_.Event(host, TextOf(Category::kTracing), "trace", 0, 10);
  run_.Event(host, TextOf(Category::kTracing), "trace", 90, 10);
  run_.Event(pool, TextOf(Category::kCompile), "Compile", 5, 60);
  EXPECT_EQ(During(0, 100), "compilation/ 55; nothing recorded/ 25; tracing/ 20");
}

TEST_F(HostActivity, EventsThatOverlapWithoutNestingCountOnce) {
  int64_t host = run_.HostThread();
  run_.Event(host, TextOf(Category::kScope), "a", 0, 30);
  run_.Event(host, TextOf(Category::kScope), "b", 20, 30);
  EXPECT_EQ(During(0, 60), "user code/b 30; user code/a 20; nothing recorded/ 10");
}

TEST_F(HostActivity, NoHostThreads) {
  run_.Event(run_.Device(), TextOf(Category::kModule), "f", 0, 10);
  EXPECT_EQ(During(0, 10), "nothing recorded/ 10");
}

}  // namespace
}  // namespace xlaprof
