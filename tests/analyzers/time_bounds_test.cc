// Tests what input_bound and tracing_bound conclude.
#include "analyzers/input_bound.h"
#include "analyzers/tracing_bound.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer input_bound, tracing_bound;

namespace {

// Graphs show whether XLA_IR_DEBUG slowed down tracing. Without them, tracing is not judged.
constexpr const char* kWithGraph = "INSERT INTO graph (process_id, printed_as) VALUES (1, 'hlo')";

// Records ten steps of 1 ms, with an event of `category` in each and `busy_us` of device time.
void AddSteps(TimedRun& run, std::string_view category, int64_t dur_us, int64_t busy_us = 1000,
              int every = 1) {
  int64_t host = run.HostThread(), device = run.Device();
  for (int i = 0; i < 10; ++i) {
    run.Step(host, i * 1000, 1000);
    if (i % every == every - 1) run.Event(host, category, "work", i * 1000, dur_us);
    run.Event(device, TextOf(Category::kModule), "step", i * 1000, busy_us);
  }
}

class TimeBounds : public testing::Test {
 protected:
  void Steps(std::string_view category, int64_t dur_us, int64_t busy_us = 1000, int every = 1) {
    AddSteps(run_, category, dur_us, busy_us, every);
  }
  TimedRun run_;
};

TEST_F(TimeBounds, WaitingForDataIsHighFromAFifthOn) {
  Steps(TextOf(Category::kInput), 200, 800);
  Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].reason->type, ReasonType::kHigh);
  EXPECT_EQ(found[0].cost_ns, 2'000'000);
  EXPECT_EQ(found[0].subject.scope, "train");
}

TEST_F(TimeBounds, WaitingForDataIsToldAtTheLoop) {
  Steps(TextOf(Category::kInput), 200);
  run_.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/src/train.cc', 20),"
      " (2, 'Evaluate', '/src/evaluate.cc', 7), (3, 'Train', '/src/train.cc', 31);"
      "INSERT INTO execution (process_id, ordinal, cause, site_id) VALUES"
      " (1, 0, 'parallel_loader', 2), (1, 1, 'parallel_loader', 1), (1, 2, 'parallel_loader', 1),"
      " (1, 3, 'value_access', 3), (1, 4, 'value_access', 3), (1, 5, 'value_access', 3);");
  Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.file, "/src/train.cc");
  EXPECT_EQ(found[0].subject.line, 20);
  EXPECT_EQ(found[0].subject.function, "Train");
}

// The advice depends on the loader, which PyTorch's profiler names.
TEST_F(TimeBounds, TheLoaderThatWaitsIsKnown) {
  run_.Interned("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
  Steps(TextOf(Category::kInput), 200);
  Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(std::any_cast<const InputBoundFigures&>(found[0].figures).loading,
            DataLoading::kInWorkers);
  run_.Interned("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(std::any_cast<const InputBoundFigures&>(found[0].figures).loading,
            DataLoading::kInStepThread);
}

// Regression: taking ready batches for 2 ms each was said to be waiting for workers that are too slow.
TEST_F(TimeBounds, TakingReadyBatchesFromWorkersIsNoWaiting) {
  const auto find = [](std::string_view loader, int64_t wait_us) {
    TimedRun run;
    run.Interned(std::string(loader));
    AddSteps(run, TextOf(Category::kInput), wait_us, 1000 - wait_us);
    return run.Run(input_bound).at(0);
  };
  constexpr std::string_view kWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  const Finding ready = find(kWorkers, 150);
  EXPECT_EQ(ready.severity, Severity::kInfo);
  EXPECT_TRUE(ready.words.why.starts_with("Taking a ready batch from a worker process takes as long"));
  EXPECT_EQ(find(kWorkers, 250).severity, Severity::kWarning);  // a fifth of the steps
  EXPECT_EQ(find("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 150).severity,
            Severity::kWarning);
}

TEST_F(TimeBounds, ModerateJustFires) {
  Steps(TextOf(Category::kInput), 50);
  Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kModerate);
}

TEST_F(TimeBounds, ALittleWaitingJustDoesNot) {
  Steps(TextOf(Category::kInput), 49);
  EXPECT_TRUE(run_.Run(input_bound).empty());
}

TEST_F(TimeBounds, OneLongWaitIsInfo) {
  Steps(TextOf(Category::kInput), 900, 1000, 10);
  Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].count, 1);
}

WaitPattern PatternOf(const Finding& finding) {
  return std::any_cast<const InputBoundFigures&>(finding.figures).pattern;
}

// torch_xla's loader fetches eight batches at once, so few steps wait, and each waits long.
TEST_F(TimeBounds, ALoaderThatFetchesInBursts) {
  const int64_t host = run_.HostThread();
  for (int i = 0; i < 24; ++i) {
    run_.Step(host, i * 1000, 1000);
    if (i % 8 == 4) run_.Event(host, TextOf(Category::kInput), "next", i * 1000, 900);
  }
  const Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].count, 3);
  EXPECT_EQ(PatternOf(found[0]), WaitPattern::kRepeats);
}

TEST_F(TimeBounds, WaitsThatStoppedAreInfo) {
  const int64_t host = run_.HostThread();
  for (int i = 0; i < 10; ++i) {
    run_.Step(host, i * 1000, 1000);
    if (i < 5) run_.Event(host, TextOf(Category::kInput), "next", i * 1000, 900);
  }
  const Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(PatternOf(found[0]), WaitPattern::kStopped);
  EXPECT_EQ(std::any_cast<const InputBoundFigures&>(found[0].figures).last_wait, 5);
}

// A step may fetch several batches, so that a profile of one step shows whether waits repeat.
TEST_F(TimeBounds, SeveralWaitsInTheOnlyStep) {
  const int64_t host = run_.HostThread();
  run_.Step(host, 0, 1000);
  run_.Event(host, TextOf(Category::kInput), "next", 0, 100);
  run_.Event(host, TextOf(Category::kInput), "next", 400, 90);
  Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(std::any_cast<const InputBoundFigures&>(found[0].figures).longest_ns, 100'000);
}

TEST_F(TimeBounds, OneWaitInTheOnlyStepIsInfo) {
  const int64_t host = run_.HostThread();
  run_.Step(host, 0, 1000);
  run_.Event(host, TextOf(Category::kInput), "next", 0, 500);
  const Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(PatternOf(found[0]), WaitPattern::kMostlyOneWait);
}

// Steps that nobody marked end where their last execution is requested. A step waits until the
// upload ends that brings its batch. Before that, it may use batches that came earlier.
TEST_F(TimeBounds, ALoaderOfUnmarkedSteps) {
  const int64_t host = run_.HostThread(), loader = run_.HostThread("loader");
  for (int i = 0; i < 12; ++i) {
    run_.Exec(
        fmt::format("INSERT INTO step (id, process_id, ordinal) VALUES ({0}, 1, {0});"
                    "INSERT INTO execution (process_id, ordinal, step_id, enqueue_ts_ns, "
                    "cause) VALUES (1, {0}, {0}, {1}, 'parallel_loader');",
                    i + 1, 1000 * (i * 1000 + 900)));
    run_.Event(host, TextOf(Category::kTracing), "StepMarker", i * 1000 + 890, 100);
    if (i % 4 != 0) continue;
    run_.Event(loader, TextOf(Category::kInput), "get_batch_from_cpu_queue", i * 1000 - 2500, 3000);
    run_.Event(loader, TextOf(Category::kTransfer), "cpu_data_to_xla_device", i * 1000 + 500, 200);
  }
  const Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].cost_ns, 2 * 710'000);  // from the last mark to the end of the upload
  EXPECT_EQ(found[0].count, 2);              // the first step has no beginning
}

// A batch that is uploaded while the leading thread works is not waited for.
TEST_F(TimeBounds, ALoaderInTimeOfUnmarkedSteps) {
  const int64_t host = run_.HostThread(), loader = run_.HostThread("loader");
  for (int i = 0; i < 12; ++i) {
    run_.Exec(
        fmt::format("INSERT INTO step (id, process_id, ordinal) VALUES ({0}, 1, {0});"
                    "INSERT INTO execution (process_id, ordinal, step_id, enqueue_ts_ns, "
                    "cause) VALUES (1, {0}, {0}, {1}, 'parallel_loader');",
                    i + 1, 1000 * (i * 1000 + 900)));
    run_.Event(host, TextOf(Category::kTracing), "StepMarker", i * 1000, 990);
    run_.Event(loader, TextOf(Category::kInput), "get_batch_from_cpu_queue", i * 1000, 500);
    run_.Event(loader, TextOf(Category::kTransfer), "cpu_data_to_xla_device", i * 1000 + 500, 200);
  }
  EXPECT_TRUE(run_.Run(input_bound).empty());
}

TEST_F(TimeBounds, ALoaderOnAnotherThreadBetweenSteps) {
  int64_t host = run_.HostThread(), loader = run_.HostThread("loader");
  for (int i = 0; i < 10; ++i) {
    run_.Step(host, i * 1000, 700);
    run_.Event(loader, TextOf(Category::kInput), "cpu_loader.next", i * 1000 + 600, 400);
  }
  Findings found = run_.Run(input_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cost_ns, 9 * 300'000);  // nothing waits after the last step
}

TEST_F(TimeBounds, TracingAsLongAsTheStep) {
  run_.Exec(kWithGraph);
  Steps(TextOf(Category::kTracing), 950);
  Findings found = run_.Run(tracing_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].reason->type, ReasonType::kAboutTheStepTime);
}

TEST_F(TimeBounds, TracingBehindABusyDeviceJustDoesNot) {
  Steps(TextOf(Category::kTracing), 949);
  EXPECT_TRUE(run_.Run(tracing_bound).empty());
}

TEST_F(TimeBounds, TracingAboveTheDevicesBusyTime) {
  run_.Exec(kWithGraph);
  Steps(TextOf(Category::kTracing), 300, 200);
  Findings found = run_.Run(tracing_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kAboveDeviceBusyTime);
  EXPECT_EQ(found[0].cost_ns, 3'000'000);
  EXPECT_EQ(found[0].saving_ns, 1'000'000);
}

// A report of 40 steps with 900 ms of tracing and 300 ms of executions.
TEST_F(TimeBounds, MetricsOfTracingDoNotHideCompilesOrUploads) {
  const auto find = [](double compile_ns, int64_t uploads) {
    TimedRun run;
    run.Exec(kWithGraph);
    const int64_t report = run.Report(40);
    run.Metric(report, "LazyTracing", MetricUnit::kNs, 900, 900e6, {{50, 1e6}, {95, 1e6}});
    run.Metric(report, "ExecuteTime", MetricUnit::kNs, 40, 300e6);
    run.Metric(report, "CompileTime", MetricUnit::kNs, 10, compile_ns);
    run.Metric(report, "OutboundData", MetricUnit::kBytes, uploads, 1e6);
    return run.Run(tracing_bound);
  };
  Findings found = find(1e6, 40);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].words.advice.find("Upload once"), std::string::npos);
  EXPECT_EQ(find(50e9, 40)[0].severity, Severity::kInfo);
  EXPECT_TRUE(find(1e6, 40 * 256)[0].words.advice.starts_with("Upload once"));
}

TEST_F(TimeBounds, TracingForACompilationIsNotCounted) {
  int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 10; ++i) {
    int64_t step = run_.Step(host, i * 1000, 1000);
    run_.Event(device, TextOf(Category::kModule), "step", i * 1000, 100);
    run_.Event(host, TextOf(Category::kTracing), "trace", i * 1000 + 100, i % 2 == 0 ? 50 : 800);
    if (i % 2 == 1)
      run_.Exec(fmt::format(
          "INSERT INTO compile (process_id, ordinal, step_id, inferred) VALUES (1, {}, {}, 0)", i,
          step));
  }
  EXPECT_TRUE(run_.Run(tracing_bound).empty());
}

TEST_F(TimeBounds, TracingUnderDebugSettingsIsInfo) {
  Steps(TextOf(Category::kTracing), 950);
  run_.Exec(
      "INSERT INTO setting (process_id, name, value, evidence) VALUES (1, 'save_tensors', 'text', 'dump')");
  Findings found = run_.Run(tracing_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].reason->type, ReasonType::kCaptureSettings);
  EXPECT_TRUE(std::any_cast<const TracingBoundFigures&>(found[0].figures).settings.dumps);
}

TEST_F(TimeBounds, TracingFromMetrics) {
  int64_t report = run_.Report(10);
  run_.Metric(report, "LazyTracing", MetricUnit::kNs, 1000, 100e6,
              {{50, 100e3}, {95, 100e3}, {99, 100e3}});
  run_.Metric(report, "ExecuteTime", MetricUnit::kNs, 10, 90e6);
  Findings found = run_.Run(tracing_bound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].evidence.size(), 2u);
  const auto& figures = std::any_cast<const TracingBoundFigures&>(found[0].figures);
  const auto* seen = std::get_if<TracingInMetrics>(&figures.seen);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->tracing_samples, 1000);
  EXPECT_EQ(seen->execute_sum_ns, 90'000'000);
}

TEST_F(TimeBounds, TracingThatIsALittlePartOfTheWallTimeBoundsNothing) {
  for (double rate : {49e6, 51e6}) {
    TimedRun run;
    int64_t report = run.Report(10);
    run.Metric(report, "LazyTracing", MetricUnit::kNs, 1000, 100e6, {{95, 100e3}});
    run.Metric(report, "ExecuteTime", MetricUnit::kNs, 10, 90e6);
    run.Exec(
        fmt::format("UPDATE metric SET value_rate = {} / 0.95 WHERE name = 'LazyTracing'", rate));
    EXPECT_EQ(run.Run(tracing_bound).size(), rate > 50e6 ? 1u : 0u);
  }
}

// A read inside a traced call waits for compilation there: LazyTracing's sum is seconds, but its
// usual sample is not.
TEST_F(TimeBounds, ReadsInsideTracedCallsAreNoTracing) {
  int64_t report = run_.Report(10);
  run_.Metric(report, "LazyTracing", MetricUnit::kNs, 1000, 5e9,
              {{50, 10e3}, {95, 20e3}, {99, 400e6}});
  run_.Metric(report, "ExecuteTime", MetricUnit::kNs, 10, 90e6);
  EXPECT_TRUE(run_.Run(tracing_bound).empty());
}

TEST_F(TimeBounds, Empty) {
  EXPECT_TRUE(run_.Run(input_bound).empty());
  EXPECT_TRUE(run_.Run(tracing_bound).empty());
}

}  // namespace
}  // namespace xlaprof
