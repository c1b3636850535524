// Tests reads in the profiles of PyTorch and JAX. Regression: `.item()` in each step was reported only as a gap
// of the device.
#include "analyzers/run/device_reads.h"

#include "analyzers/sync_point.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer sync_point;

namespace {

const ReadOperationFigures& ReadFiguresOf(const Finding& finding) {
  return std::get<ReadOperationFigures>(std::any_cast<const SyncPointFigures&>(finding.figures));
}

class DeviceReadsTest : public testing::Test {
 protected:
  // Adds aten::item and its inner events, as PyTorch runs it for a tensor on a GPU.
  void Item(int64_t thread, int64_t ts_us) {
    run_.Event(thread, "cpu_op", "aten::item", ts_us, 100);
    run_.Event(thread, "cpu_op", "aten::_local_scalar_dense", ts_us + 1, 98);
    run_.Event(thread, TextOf(Category::kTransfer), "cudaMemcpyAsync", ts_us + 10, 60);
    run_.Event(thread, TextOf(Category::kHost), "cudaStreamSynchronize", ts_us + 75, 20);
  }
  void Step(int64_t thread, int i) {
    run_.Step(thread, i * 1000, 900, fmt::format("ProfilerStep#{}", i));
  }
  TimedRun run_;
};

TEST_F(DeviceReadsTest, ItemInEachStep) {
  const int64_t thread = run_.HostThread();
  for (int i = 0; i < 8; ++i) {
    Step(thread, i);
    run_.Event(thread, TextOf(Category::kScope), "loss", i * 1000 + 50, 500);
    run_.Event(thread, TextOf(Category::kPython), "train.py(42): log", i * 1000 + 60, 400);
    run_.Event(thread, TextOf(Category::kPython), "torch/_tensor.py(9): item", i * 1000 + 70, 300);
    Item(thread, i * 1000 + 100);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.op, "aten::item");
  EXPECT_EQ(found[0].count, 8);
  EXPECT_EQ(found[0].per_step, 1);
  EXPECT_FALSE(ReadFiguresOf(found[0]).counts_elements);
  EXPECT_EQ(ReadFiguresOf(found[0]).blocked_ns, 8 * 80'000);
  EXPECT_EQ(ReadFiguresOf(found[0]).device_idle_ns, std::nullopt);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].cost_ns, 8 * 80'000);
  EXPECT_EQ(found[0].subject.scope, "loss");
  EXPECT_EQ(found[0].subject.file, "train.py");
  EXPECT_EQ(found[0].subject.line, 42);
  EXPECT_EQ(found[0].subject.function, "log");
}

// A host that waits for a device loses nothing if the device is busy all the time.
TEST_F(DeviceReadsTest, WhatTheDeviceIdlesIsTheMostThatIsLost) {
  const int64_t thread = run_.HostThread(), stream = run_.Stream();
  for (int i = 0; i < 8; ++i) {
    Step(thread, i);
    Item(thread, i * 1000 + 100);
    run_.Event(stream, TextOf(Category::kOp), "kernel", i * 1000, 998);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_LE(found[0].cost_ns, 8 * 2'000);
  EXPECT_EQ(ReadFiguresOf(found[0]).device_idle_ns, found[0].cost_ns)
      << "all of it, as no other reads";
}

// JAX's call waits by itself. While the device works for it, the host loses nothing.
TEST_F(DeviceReadsTest, ReadsOfJaxAreNamedWithTheirLine) {
  const int64_t thread = run_.HostThread(), stream = run_.Stream();
  for (int i = 0; i < 8; ++i) {
    Step(thread, i);
    run_.Event(thread, TextOf(Category::kPython), "$monitor.py:18 update", i * 1000 + 50, 600);
    run_.Event(thread, TextOf(Category::kPython), "$array.py:298 __float__", i * 1000 + 60, 500);
    run_.Event(thread, TextOf(Category::kTransfer), "np.asarray(jax.Array)", i * 1000 + 100, 400);
    run_.Event(stream, TextOf(Category::kOp), "kernel", i * 1000 + 100, 300);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(ReadFiguresOf(found[0]).of_jax);
  EXPECT_EQ(found[0].count, 8);
  EXPECT_EQ(found[0].subject.file, "monitor.py");
  EXPECT_EQ(found[0].subject.line, 18);
  EXPECT_EQ(found[0].cost_ns, 8 * 100'000);
  EXPECT_EQ(ReadFiguresOf(found[0]).blocked_ns, 8 * 400'000);
}

// NumPy reads an array of a CPU without JAX's event. A call that ends while the device still works,
// or that a library makes, reads something else.
TEST_F(DeviceReadsTest, CallsOfNumpyThatWaitForTheDeviceAreReads) {
  const int64_t thread = run_.HostThread(), device = run_.Device("CPU:0");
  run_.Event(thread, TextOf(Category::kTransfer), "np.asarray(jax.Array)", 8500, 10);
  for (int i = 0; i < 8; ++i) {
    const int64_t begin_us = i * 1000;
    Step(thread, i);
    run_.Event(thread, TextOf(Category::kPython), "$scores.py:10 update", begin_us + 50, 700);
    run_.Event(thread, TextOf(Category::kPython), "$numpy asarray", begin_us + 60, 10);
    run_.Event(thread, TextOf(Category::kPython), "$numpy asarray", begin_us + 100, 400);
    run_.Event(thread, TextOf(Category::kPython), "$numpy array", begin_us + 550, 10);
    run_.Event(thread, TextOf(Category::kPython), "$array.py:298 __float__", begin_us + 600, 100);
    run_.Event(thread, TextOf(Category::kPython), "$numpy asarray", begin_us + 610, 80);
    run_.Event(device, TextOf(Category::kModule), "jit_step", begin_us + 90, 400);
    run_.Exec(
        fmt::format("INSERT INTO execution (process_id, ordinal, ts_ns, dur_ns, device) VALUES "
                    "(1, {0}, {1}, 400000, 'CPU:0'), (1, {0}, {2}, 30000, 'CPU:0')",
                    i, (begin_us + 90) * 1000, (begin_us + 640) * 1000));
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.op, "np.asarray");
  EXPECT_EQ(found[0].subject.file, "scores.py");
  EXPECT_EQ(found[0].count, 8);
  EXPECT_EQ(ReadFiguresOf(found[0]).blocked_ns, 8 * 400'000);
}

// Adds a call of jax.block_until_ready that waits for 400 us, of which the device works 100 us.
void Wait(TimedRun& run, int64_t thread, int64_t stream, int64_t ts_us) {
  run.Event(thread, TextOf(Category::kPython), "$train.py:31 train", ts_us, 600);
  run.Event(thread, TextOf(Category::kPython), "$api.py:2479 block_until_ready", ts_us + 50, 400);
  run.Event(thread, TextOf(Category::kPython), "$api.py:2490 try_to_block", ts_us + 60, 380);
  run.Event(stream, TextOf(Category::kOp), "kernel", ts_us + 50, 100);
}

// Regression: in a profile with Python's calls, waits for arrays were not among the reads.
TEST_F(DeviceReadsTest, WaitsOfJaxAreNamedWithTheirLine) {
  const int64_t thread = run_.HostThread(), stream = run_.Stream();
  for (int i = 0; i < 8; ++i) {
    Step(thread, i);
    Wait(run_, thread, stream, i * 1000 + 10);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.op, "jax.block_until_ready");
  EXPECT_EQ(found[0].subject.file, "train.py");
  EXPECT_EQ(found[0].subject.line, 31);
  EXPECT_EQ(found[0].count, 8);
  EXPECT_EQ(found[0].cost_ns, 8 * 300'000);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_TRUE(found[0].words.advice.starts_with("Wait only where")) << found[0].words.advice;
}

// A program that measures one call waits for it, and nothing would be faster without that.
TEST_F(DeviceReadsTest, WithoutStepsWaitsOfJaxAreOnlyMentioned) {
  const int64_t thread = run_.HostThread();
  const int64_t stream = run_.Stream();
  for (int i = 0; i < 20; ++i) {
    run_.Flow(thread, TextOf(Category::kExecute), "Execute", i * 1000, 5, 0, uint64_t(i + 1));
    run_.Flow(stream, TextOf(Category::kOp), "first", i * 1000 + 6, 1, uint64_t(i + 1), 0);
    Wait(run_, thread, stream, i * 1000 + 10);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 20);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
}

TEST_F(DeviceReadsTest, OneWaitOfJaxIsNone) {
  const int64_t thread = run_.HostThread(), stream = run_.Stream();
  for (int i = 0; i < 8; ++i) Step(thread, i);
  Wait(run_, thread, stream, 7 * 1000 + 10);
  EXPECT_TRUE(run_.Run(sync_point).empty());
}

// A function of the user's with the same name is none of JAX's.
TEST_F(DeviceReadsTest, OtherFunctionsWithTheNameOfAWaitAreNone) {
  const int64_t thread = run_.HostThread();
  for (int i = 0; i < 8; ++i) {
    Step(thread, i);
    run_.Event(thread, TextOf(Category::kPython), "$worker.py:5 block_until_ready", i * 1000, 400);
  }
  EXPECT_TRUE(run_.Run(sync_point).empty());
}

TEST_F(DeviceReadsTest, LittleOfAStepIsOnlyMentioned) {
  const int64_t thread = run_.HostThread();
  for (int i = 0; i < 8; ++i) {
    run_.Step(thread, i * 10'000, 8100);
    Item(thread, i * 10'000 + 100);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
}

TEST_F(DeviceReadsTest, StepsAreOnePlace) {
  const int64_t thread = run_.HostThread();
  for (int i = 0; i < 3; ++i) {
    Step(thread, i);
    Item(thread, i * 1000 + 100);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 3);
  EXPECT_EQ(found[0].subject.scope, "ProfilerStep");
}

TEST_F(DeviceReadsTest, WhatNeedsNoDeviceOrIsInNoStepIsNone) {
  const int64_t thread = run_.HostThread(), other = run_.HostThread("loader");
  for (int i = 0; i < 3; ++i) {
    Step(thread, i);
    run_.Event(thread, "cpu_op", "aten::item", i * 1000 + 100, 5);  // reads a tensor on the host
    run_.Event(thread, TextOf(Category::kHost), "cudaDeviceSynchronize", i * 1000 + 200, 50);
    Item(thread, i * 1000 + 900);
    Item(other, i * 1000 + 100);
  }
  EXPECT_TRUE(run_.Run(sync_point).empty());
}

// Adds aten::to, which copies a tensor `name` on a stream, and blocks the host for 60 us.
void Copy(TimedRun& run, int64_t thread, int64_t stream, int64_t ts_us, std::string_view name) {
  const uint64_t flow = uint64_t(ts_us) + 1;
  run.Event(thread, "cpu_op", "aten::to", ts_us, 80);
  run.Flow(thread, TextOf(Category::kTransfer), "cudaMemcpyAsync", ts_us + 10, 60, 0, flow);
  run.Flow(stream, TextOf(Category::kOp), name, ts_us + 68, 1, flow, 0);
}

TEST_F(DeviceReadsTest, ACopyToTheHostThatBlocksIsARead) {
  const int64_t thread = run_.HostThread(), stream = run_.Stream();
  for (int i = 0; i < 8; ++i) {
    Step(thread, i);
    Copy(run_, thread, stream, i * 1000 + 100, "Memcpy DtoH (Device -> Pageable)");
    run_.Event(stream, TextOf(Category::kOp), "kernel", i * 1000 + 500, 100);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.op, "aten::to");
  EXPECT_EQ(found[0].count, 8);
  EXPECT_TRUE(ReadFiguresOf(found[0]).copies);
  EXPECT_EQ(ReadFiguresOf(found[0]).blocked_ns, 8 * 60'000);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
}

TEST_F(DeviceReadsTest, ACopyToTheDeviceIsNone) {
  const int64_t thread = run_.HostThread(), stream = run_.Stream();
  for (int i = 0; i < 8; ++i) {
    Step(thread, i);
    Copy(run_, thread, stream, i * 1000 + 100, "Memcpy HtoD (Pageable -> Device)");
  }
  EXPECT_TRUE(run_.Run(sync_point).empty());
}

TEST_F(DeviceReadsTest, WithoutStepsReadsOfThreadsThatLaunchCount) {
  const int64_t thread = run_.HostThread(), stream = run_.Stream();
  for (int i = 0; i < 20; ++i) {
    Copy(run_, thread, stream, i * 1000, "Memcpy DtoH (Device -> Pageable)");
    run_.Event(stream, TextOf(Category::kOp), "kernel", i * 1000 + 500, 100);
  }
  Findings found = run_.Run(sync_point);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 20);
  EXPECT_EQ(found[0].per_step, std::nullopt);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
}

// Adds ten executions of a program that calls Python for `callback_us` of 1 ms.
Findings FindCallbacks(TimedRun& run, int64_t callback_us) {
  const int64_t device = run.Stream("CPU:0");
  for (int i = 0; i < 10; ++i) {
    run.Event(device, TextOf(Category::kOp), "dot.1", i * 1000, 1000 - callback_us);
    run.Event(device, TextOf(Category::kOp), "debug_callback.1", (i + 1) * 1000 - callback_us,
              callback_us);
  }
  const int64_t graph =
      run.store().Add(GraphRow{.process_id = 1, .printed_as = PrintedForm::kHloOptimized}).value();
  EXPECT_TRUE(
      run.store()
          .Add(GraphNodeRow{.graph_id = graph,
                            .idx = 0,
                            .op = "custom-call",
                            .shape = "f32[]",
                            .attributes = R"(custom_call_target="xla_ffi_python_cpu_callback")",
                            .location = "attach@/home/user/watch.py:16",
                            .name = "debug_callback.1",
                            .framework_op = "debug_callback"})
          .ok());
  return run.Run(sync_point);
}

TEST_F(DeviceReadsTest, CallbacksIntoPythonAreNamedWithTheirLine) {
  const Findings found = FindCallbacks(run_, 100);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.op, "debug_callback");
  EXPECT_EQ(found[0].subject.line, 16);
  EXPECT_EQ(found[0].count, 10);
  EXPECT_EQ(found[0].cost_ns, 1'000'000);
}

TEST_F(DeviceReadsTest, ShortCallbacksAreLeftOut) { EXPECT_TRUE(FindCallbacks(run_, 20).empty()); }

}  // namespace
}  // namespace xlaprof
