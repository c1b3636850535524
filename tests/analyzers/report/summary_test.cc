#include "analyzers/report/summary.h"

#include "analyzers/kinds.h"
#include "analyzers/recompilation.h"
#include "analyzers/recompile/counts.h"
#include "analyzers/report/report.h"
#include "analyzers/report/report_words.h"
#include "analyzers/report/verdict.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

TEST(Summary, FromEvents) {
  TimedRun run;
  int64_t host = run.HostThread(), device = run.Device();
  for (int i = 0; i < 10; ++i) {
    run.Step(host, 100 + i * 100, i == 0 ? 100 : 60 + i);
    run.Event(host, TextOf(Category::kTracing), "trace", 100 + i * 100, 20);
    run.Event(host, TextOf(Category::kInput), "next", 130 + i * 100, 5);
    run.Event(device, TextOf(Category::kModule), "f", 120 + i * 100, 30);
  }
  run.Event(host, TextOf(Category::kHost), "start", 0, 1);
  run.Exec(
      "INSERT INTO compile (process_id, ordinal, ts_ns, dur_ns, step_id, inferred) VALUES (1, 0, "
      "110000, 5000, 1, 0);"
      "INSERT INTO compile (process_id, ordinal, dur_ns, inferred) VALUES (1, 1, 7000, 0);"
      "INSERT INTO fallback (process_id, op, count) VALUES (1, 'aten::nonzero', 4), (1, "
      "'aten::_local_scalar_dense', 9);"
      "INSERT INTO provenance (table_name, row_id, source_id) VALUES ('compile', 1, 1), ('step', "
      "1, 1), ('step', 2, 1)");
  // A metrics report alongside must not change figures that have a clock.
  run.Metric(run.Report(40), "CompileTime", MetricUnit::kNs, 3, 9e9);
  Summary summary = Summarize(xlaprof::Run(run.store())).value();
  EXPECT_EQ(summary.steps, 10);
  EXPECT_EQ(summary.timed_steps, 10);
  EXPECT_EQ(summary.warm_up_steps, 1);
  EXPECT_EQ(summary.step_p50_ns, 65'000);
  EXPECT_EQ(summary.step_p99_ns, 69'000);
  EXPECT_EQ(summary.warm_up_step_p50_ns, 100'000);
  EXPECT_EQ(summary.wall_ns, 1'069'000);
  EXPECT_EQ(summary.time_to_first_step_ns, 200'000);
  EXPECT_EQ(summary.tracing_ns, 200'000);
  EXPECT_EQ(summary.input_ns, 50'000);
  EXPECT_EQ(summary.compile_ns, 5'000);
  EXPECT_EQ(summary.compile_count, 3);  // from the source that saw most
  EXPECT_EQ(summary.transfer_ns, 0);
  EXPECT_EQ(summary.fallback_count, 4);
  EXPECT_EQ(summary.device_busy_ns, 300'000);
  EXPECT_EQ(summary.device_idle_ns, 630'000);
  ASSERT_EQ(summary.devices.size(), 1u);
  EXPECT_EQ(summary.devices[0].span_ns, 930'000);
  ASSERT_EQ(summary.coverage.size(), 1u);
  EXPECT_EQ(summary.coverage[0].path, "host.xplane.pb");
  EXPECT_EQ(summary.coverage[0].events, 41);
  EXPECT_EQ(summary.coverage[0].to_ns, 1'069'000);
}

// PyTorch's host has finished a step once it has launched its kernels.
TEST(Summary, StepsThatOnlyQueueWorkAreNotTheDevices) {
  TimedRun run;
  const int64_t host = run.HostThread(), device = run.Stream();
  for (int i = 0; i < 8; ++i) {
    run.Step(host, i * 500, 500);
    run.Event(device, TextOf(Category::kOp), "gemm", i * 30'000, 30'000);
  }
  const Summary summary = Summarize(xlaprof::Run(run.store())).value();
  EXPECT_EQ(summary.step_p50_ns, 500'000);
  ASSERT_EQ(summary.devices.size(), 1u);
  EXPECT_EQ(summary.devices[0].after_steps_ns, 236'000'000);
  EXPECT_EQ(summary.devices[0].busy_a_step_ns, 30'000'000);
  EXPECT_EQ(
      AfterStepsText(summary.devices[0]),
      "GPU:0 works for 236 ms after the last step: the host's steps only queue work, and the device is busy for 30 ms per step");
}

// A host that waits in its steps queues no work, so work after the steps belongs to no step.
TEST(Summary, WorkAfterStepsThatWaitIsNotTheirs) {
  TimedRun run;
  const int64_t host = run.HostThread(), device = run.Stream();
  for (int i = 0; i < 8; ++i) {
    run.Step(host, i * 500, 500);
    run.Event(device, TextOf(Category::kOp), "gemm", i * 500, 400);
  }
  run.Event(device, TextOf(Category::kOp), "gemm", 6000, 100);
  EXPECT_FALSE(Summarize(xlaprof::Run(run.store())).value().devices[0].after_steps_ns);
}

// A server marks no steps, and its unit is the program that it executes most.
TEST(Summary, UnitOfARunWithoutSteps) {
  auto unit = [](int decodes, bool with_step) {
    TimedRun run;
    run.Exec(
        "INSERT INTO graph (id, process_id, name) VALUES (1, 1, 'jit_decode'), (2, 1, "
        "'jit_prefill')");
    for (int i = 0; i < decodes; ++i) {
      for (const char* device : {"TPU:0", "TPU:1"}) {
        run.Exec(
            fmt::format("INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, "
                        "device) VALUES (1, {}, 1, {}, {}, '{}')",
                        i, i * 100'000, 14'000 + i, device));
      }
    }
    run.Exec(
        "INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, device) VALUES (1, "
        "99, 2, 9000000, 140000, 'TPU:0')");
    if (with_step) run.Step(run.HostThread(), 0, 5000);
    return Summarize(xlaprof::Run(run.store())).value().unit;
  };
  const auto known = unit(11, false);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->name, "jit_decode");
  EXPECT_EQ(known->executions, 11);
  EXPECT_EQ(known->median_ns, 14'005);
  EXPECT_NEAR(known->share, 308'110.0 / 448'110, 1e-9);
  EXPECT_FALSE(unit(9, false));  // too few
  EXPECT_FALSE(unit(11, true));  // the run has a step
}

// Starting and stopping the profiler is not a part of the program's run.
TEST(Summary, TheWindowLeavesOutStartAndStopOfTheProfiler) {
  auto wall_ns = [](int64_t work_us, int64_t other_us = 100) {
    TimedRun run;
    const int64_t host = run.HostThread(), other = run.HostThread(), device = run.Device();
    run.Event(host, TextOf(Category::kPython), "$profiler.py:151 start_trace", 0, 500);
    run.Event(other, TextOf(Category::kPython), "$api.py:2277 device_get", 600, other_us);
    run.Event(host, TextOf(Category::kPython), "$train.py:3 main", 600, 100);
    run.Event(device, TextOf(Category::kModule), "f", work_us, 100);
    run.Event(host, TextOf(Category::kPython), "$profiler.py:271 stop_trace", 1000, 9000);
    return Summarize(xlaprof::Run(run.store())).value().wall_ns;
  };
  EXPECT_EQ(wall_ns(700), 500'000);
  EXPECT_EQ(wall_ns(400), 1'000'000);  // the device began before start_trace ended
  EXPECT_EQ(wall_ns(950), 550'000);  // it still works when stop_trace begins
  // A call on another thread ends where the profile does.
  EXPECT_EQ(wall_ns(700, 9410), 500'000);
  EXPECT_EQ(wall_ns(9800), 9'400'000);  // the device works almost until stop_trace ends
}

// cudaFree makes the context if it is the first call. Time that the program spent before is its own.
TEST(Summary, TheWindowLeavesOutMakingTheContextOnlyAtItsBeginning) {
  auto wall_ns = [](int64_t before_us) {
    TimedRun run;
    const int64_t host = run.HostThread(), device = run.Stream();
    run.Event(host, TextOf(Category::kScope), "load", 0, before_us);
    run.Event(host, TextOf(Category::kHost), "cudaFree", before_us, 1000);
    run.Event(device, TextOf(Category::kOp), "gemm", 5000, 1000);
    return Summarize(xlaprof::Run(run.store())).value().wall_ns;
  };
  EXPECT_EQ(wall_ns(50), 6'000'000 - 1'050'000);
  EXPECT_EQ(wall_ns(51), 6'000'000);
}

TEST(Summary, ChecksAreOnlyThoseThatTheInputAllows) {
  auto names = [](const std::vector<const Analyzer*>& analyzers) {
    std::string out;
    for (const Analyzer* analyzer : analyzers) out += std::string(analyzer->name) + " ";
    return out;
  };
  Summary counters;
  counters.compile_count = 3;
  const Checks none = ChecksOf(counters, {});
  EXPECT_EQ(
      names(none.not_made),
      "slow_compile cold_start device_gap device_wait input_bound tracing_bound slow_execution ");
  EXPECT_EQ(none.why, "no timeline in these files");
  Summary profile;
  profile.wall_ns = 1'000'000, profile.timed_steps = 3;
  EXPECT_EQ(names(ChecksOf(profile, {}).not_made), "device_gap device_wait ");
  profile.devices.push_back({.name = "TPU:0"});
  EXPECT_EQ(names(ChecksOf(profile, {}).not_made), "");
}

// Regression: reports of JAX's profiles did not say that they could not show block_until_ready.
TEST(Summary, WaitsThatJaxDoesNotRecordAreStated) {
  auto hidden = [](std::string_view program, bool traced) {
    TimedRun run;
    const int64_t host = run.HostThread();
    run.Event(host, TextOf(Category::kExecute), program, 0, 10);
    if (traced) {
      EXPECT_TRUE(
          run.store()
              .Add(SettingRow{.process_id = 1, .name = SettingName::kPythonTracer, .value = "on"})
              .ok());
    }
    return Summarize(xlaprof::Run(run.store())).value().hidden_waits;
  };
  EXPECT_EQ(hidden("PjitFunction(step)", false), HiddenWaits::kAll);
  EXPECT_EQ(hidden("PjitFunction(step)", true), HiddenWaits::kOfArrayMethod);
  EXPECT_EQ(hidden("SyncTensorsGraph.1", true), HiddenWaits::kNone);
  Summary profile;
  profile.wall_ns = 1'000'000, profile.hidden_waits = HiddenWaits::kAll;
  const Checks checks = ChecksOf(profile, {});
  ASSERT_EQ(checks.limits.size(), 1u);
  EXPECT_STREQ(checks.limits[0].analyzer->name, "sync_point");
  EXPECT_NE(checks.limits[0].text.find("block_until_ready"), std::string::npos);
}

TEST(Summary, FromMetricsAlone) {
  TimedRun run;
  run.Metric(run.Report(20), "CompileTime", MetricUnit::kNs, 1, 1e9);
  int64_t last = run.Report(40);
  run.Metric(last, "CompileTime", MetricUnit::kNs, 3, 9e9);
  run.Metric(last, "TransferFromDeviceTime", MetricUnit::kNs, 5, 1e6);
  run.Metric(last, "TransferToDeviceTime", MetricUnit::kNs, 6, 2e6);
  Summary summary = Summarize(xlaprof::Run(run.store())).value();
  EXPECT_EQ(summary.steps, 40);
  EXPECT_EQ(summary.compile_ns, 9'000'000'000);
  EXPECT_EQ(summary.compile_count, 3);
  EXPECT_EQ(summary.transfer_ns, 3'000'000);
  EXPECT_EQ(summary.transfer_count, 11);
  EXPECT_EQ(summary.tracing_ns, std::nullopt);
  EXPECT_EQ(summary.execution_count, std::nullopt);
  EXPECT_EQ(summary.device_busy_ns, std::nullopt);
  EXPECT_EQ(summary.wall_ns, std::nullopt);
  ASSERT_EQ(summary.coverage.size(), 1u);
  EXPECT_EQ(summary.coverage[0].steps, 40);
  EXPECT_EQ(summary.coverage[0].compiles, 3);
}

// Reports of PJRT's first versions have times only for uploads of graph values.
TEST(Summary, ValuesOfGraphsAreUploadsWhereNothingElseTimesThem) {
  TimedRun run;
  const int64_t report = run.Report(40);
  run.Metric(report, "TransferFromDeviceTime", MetricUnit::kNs, 5, 1e6);
  run.Metric(report, "IrValueTensorToXlaData", MetricUnit::kNs, 100, 8e9);
  Summary summary = Summarize(xlaprof::Run(run.store())).value();
  EXPECT_EQ(summary.transfer_ns, 8'001'000'000);
  EXPECT_EQ(summary.transfer_count, 105);
  EXPECT_EQ(summary.coverage[0].transfers, 105);
  run.Metric(report, "TransferToDeviceTime", MetricUnit::kNs, 100, 7e9);
  summary = Summarize(xlaprof::Run(run.store())).value();
  EXPECT_EQ(summary.transfer_ns, 7'001'000'000);
  EXPECT_EQ(summary.transfer_count, 105);
  EXPECT_EQ(summary.coverage[0].transfers, 105);
}

TEST(Summary, CountsWithoutAClock) {
  TimedRun run;
  for (int i = 0; i < 4; ++i) run.UntimedStep();
  run.Exec(
      "INSERT INTO execution (process_id, ordinal, step_id) VALUES (1, 0, 1), (1, 1, 2), (1, 2, 2);"
      "INSERT INTO provenance (table_name, row_id, source_id) VALUES ('execution', 1, 1), "
      "('execution', 2, 1), ('execution', 3, 1)");
  Summary summary = Summarize(xlaprof::Run(run.store())).value();
  EXPECT_EQ(summary.steps, 4);
  EXPECT_EQ(summary.timed_steps, std::nullopt);
  EXPECT_EQ(summary.execution_count, 3);
  EXPECT_EQ(summary.step_p50_ns, std::nullopt);
  EXPECT_EQ(summary.execute_ns, std::nullopt);
  EXPECT_EQ(summary.coverage[0].executions, 3);
  EXPECT_EQ(summary.coverage[0].steps, 2);
}

// Counters and the lines of an exit summary report the same calls; a summary may omit the op.
TEST(Summary, CallsOnTheCpuAreCountedOnce) {
  TimedRun run;
  auto fallbacks = [&] { return Summarize(xlaprof::Run(run.store())).value().fallback_count; };
  run.Exec(
      "INSERT INTO fallback (process_id, op, count) VALUES (1, 'aten::nonzero', 12), (1, "
      "'aten::_local_scalar_dense', 12)");
  EXPECT_EQ(fallbacks(), 12);
  run.Exec("INSERT INTO fallback (process_id, count, stack_id) VALUES (1, 12, 1), (1, 12, 2)");
  EXPECT_EQ(fallbacks(), 12);
  run.Exec(
      "INSERT INTO fallback (process_id, op, count, stack_id) VALUES (1, 'aten::nonzero', 14, 1)");
  EXPECT_EQ(fallbacks(), 14);
  run.Exec("DELETE FROM fallback WHERE op IS NOT NULL");
  EXPECT_EQ(fallbacks(), 24);
  run.Exec("UPDATE fallback SET op = 'aten::_local_scalar_dense'");
  EXPECT_EQ(fallbacks(), std::nullopt);
}

TEST(Summary, Empty) {
  TimedRun run;
  Summary summary = Summarize(xlaprof::Run(run.store())).value();
  EXPECT_EQ(summary.steps, std::nullopt);
  EXPECT_EQ(summary.compile_count, std::nullopt);
  EXPECT_EQ(summary.coverage.size(), 1u);
}

// Regression: a call that waits for the device and then copies a number counted as a copy.
TEST(Summary, WaitingForTheDeviceIsNoTransfer) {
  TimedRun run;
  run.Event(run.HostThread(), TextOf(Category::kHost), "main", 0, 200);
  run.Event(run.Device(), TextOf(Category::kModule), "jit_step", 0, 100);
  run.Exec(
      "INSERT INTO transfer (process_id, ordinal, direction, ts_ns, dur_ns) VALUES (1, 0, "
      "'from_device', 10000, 95000), (1, 1, 'to_device', 20000, 30000)");
  EXPECT_EQ(Summarize(xlaprof::Run(run.store())).value().transfer_ns, 5000 + 30'000);
}

// The mean per step says nothing if only the first steps compile.
TEST(Summary, CompilesOfLogsInTheFirstSteps) {
  TimedRun run;
  run.Exec(
      "INSERT INTO step (id, process_id, ordinal) VALUES (1, 1, 0), (2, 1, 1), (3, 1, 2), (4, 1, 3);"
      "INSERT INTO compile (id, process_id, ordinal, dur_ns, dur_from, step_id, inferred) VALUES "
      "(1, 1, 0, 8000, 'log', 1, 0), (2, 1, 1, 4000, 'log', 2, 0)");
  const auto share = [&] {
    const Summary summary = Summarize(xlaprof::Run(run.store())).value();
    const std::vector<StepShare> shares = TotalShares(summary);
    EXPECT_EQ(shares.size(), 1u);
    return shares.empty() ? StepShare() : shares.front();
  };
  EXPECT_EQ(share().ns, 12'000);
  EXPECT_FALSE(share().per_step_ns);
  run.Exec("UPDATE compile SET step_id = 3 WHERE id = 2");
  EXPECT_EQ(share().per_step_ns, 3'000);
}

// Regression: a device that only received 19 copies, and was idle otherwise, stood for eight.
TEST(Verdict, TheBusiestDeviceSaysHowIdleTheyAre) {
  Report report;
  report.summary.execution_count = 1;
  report.summary.devices = {{.name = "GPU:1", .busy_ns = 1, .span_ns = 1000},
                            {.name = "GPU:4", .busy_ns = 130, .span_ns = 1000}};
  EXPECT_NE(VerdictWithoutWarnings(report).text.find("GPU:4 was idle for 87 %"), std::string::npos);
}

// Regression: "Nothing found that needs fixing" stood above 202 compilations of 369 s.
TEST(Verdict, MuchCompilingOfAnUnknownNumberOfStepsIsAnOpenQuestion) {
  CountFigures figures{.verdict = CountVerdict::kStepsNotTold};
  figures.signals = {.compiles = 202, .compile_ns = 369'000'000'000};
  const auto is_open = [&] {
    return SayRecompileCounts({.figures = figures}, Framework::kPytorchXla).is_open_question;
  };
  EXPECT_TRUE(is_open());
  figures.signals.compile_ns = 9'000'000'000;
  EXPECT_FALSE(is_open());
}

// Regression: four lines of a report were the same.
TEST(ReportWords, ConsequencesThatReadAlikeAreOneText) {
  const auto finding = [](int depth, std::string title) {
    Finding made{.analyzer = &recompilation, .depth = depth};
    made.words.title = std::move(title);
    return made;
  };
  Report report;
  report.findings = {finding(0, "a"), finding(1, "b"), finding(1, "b"), finding(1, "c"),
                     finding(0, "b")};
  const std::vector<ConsequenceText> texts = ConsequenceTexts(report, report.findings[0]);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0].text, "recompilation: b (2 such findings)");
  EXPECT_EQ(texts[1].text, "recompilation: c");
}

// Regression: ops of 71.5 ms, most of which ran after the host's 3 steps of 16 ms, "cost 23.8 ms a step".
TEST(ReportWords, NoStepCostsMoreThanItTakes) {
  Report report;
  report.summary.timed_steps = 3;
  report.summary.step_p50_ns = 16'000'000;
  report.summary.wall_ns = 110'000'000;
  Finding finding{.analyzer = &device_gap, .cost_ns = 71'500'000};
  finding.evidence = {{.table = "event", .ts_ns = 0, .dur_ns = 1}};
  EXPECT_EQ(CostText(report, finding).find("a step"), std::string::npos) << CostText(report, finding);
  finding.cost_ns = 30'000'000;
  EXPECT_NE(CostText(report, finding).find("10 ms a step"), std::string::npos)
      << CostText(report, finding);
}

}  // namespace
}  // namespace xlaprof
