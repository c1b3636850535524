// Tests slow_compile, cold_start, slow_execution and large_transfer.
#include "analyzers/cold_start.h"
#include "analyzers/slow_compile.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer slow_compile, cold_start, slow_execution, large_transfer;

namespace {

template <class Figures>
const Figures& CompileFigures(const Finding& finding) {
  return std::get<Figures>(std::any_cast<const SlowCompileFigures&>(finding.figures));
}

const ColdStartFigures& StartFigures(const Finding& finding) {
  return std::any_cast<const ColdStartFigures&>(finding.figures);
}

class SlowWork : public testing::Test {
 protected:
  void Steps(int n, int64_t dur_us) {
    int64_t host = run_.HostThread();
    for (int i = 0; i < n; ++i) run_.Step(host, i * dur_us, dur_us);
  }
  void Compile(int graph, double seconds, const char* cause = "user_sync") {
    run_.Exec(fmt::format(
        "INSERT OR IGNORE INTO graph (id, hash, node_count) VALUES ({0}, 'hash{0}', 70);"
        "INSERT INTO compile (process_id, ordinal, graph_id, dur_ns, cause, inferred) VALUES (1, "
        "{1}, {0}, {2}, '{3}', 0)",
        graph, ordinal_++, int64_t(seconds * 1e9), cause));
  }
  void Execute(double ms) {
    run_.Exec("INSERT OR IGNORE INTO graph (id, hash) VALUES (1, 'abc')");
    run_.Exec(fmt::format(
        "INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, device) VALUES "
        "(1, {0}, 1, {0} * 1000000000000, {1}, 'TPU:0')",
        ordinal_++, int64_t(ms * 1e6)));
  }
  TimedRun run_;
  int ordinal_ = 0;
};

// Compiles of a place after its first graph belong to the recompilation finding, which has their
// cost. Regression: the cost was reported twice.
TEST_F(SlowWork, CompilingIsToldOnceAPlace) {
  Steps(10, 10'000);
  Compile(1, 2), Compile(2, 3, "parallel_loader"), Compile(1, 2), Compile(3, 9);
  EXPECT_TRUE(run_.Run(slow_compile).empty());
  Findings found = run_.Run(cold_start);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].cost_ns, 5'000'000'000);
  EXPECT_EQ(found[0].subject.graph_hash, "hash2");
  EXPECT_EQ(StartFigures(found[0]).steps->as_long_as, 500);
}

TEST_F(SlowWork, CompilingForAReadIsToldApart) {
  Compile(1, 2), Compile(2, 3, "value_access");
  Findings found = run_.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kValueAccess);
  EXPECT_EQ(found[0].cost_ns, 3'000'000'000);
  EXPECT_FALSE(found[0].saving_ns) << "it is not known what the step's graph contains";
  EXPECT_EQ(run_.Run(cold_start).at(0).cost_ns, 2'000'000'000);
}

// TorchTPU keeps the results, so nothing runs or compiles again because of the read.
TEST_F(SlowWork, AReadOfTorchtpuOnlyCutsTheGraph) {
  run_.Exec(
      "INSERT INTO graph (id, process_id, hash, printed_as, node_count) VALUES (2, 1, 'hash2', "
      "'torchtpu_ops', 70)");
  Compile(2, 3, "value_access");
  EXPECT_TRUE(run_.Run(slow_compile).empty());
  EXPECT_EQ(run_.Run(cold_start).at(0).cost_ns, 3'000'000'000);
}

TEST_F(SlowWork, TwoMinutesAreTooLong) {
  Compile(1, 120), Compile(2, 120.1);
  Findings found = run_.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.graph_hash, "hash2");
}

TEST_F(SlowWork, AThousandStepsAreTooLong) {
  Steps(10, 31'000);
  Compile(1, 31.1);
  EXPECT_EQ(run_.Run(slow_compile)[0].severity, Severity::kWarning);
}

TEST_F(SlowWork, CompilingFromMetrics) {
  run_.Metric(run_.Report(5), "CompileTime", MetricUnit::kNs, 2, 302e9, {{50, 1e9}, {99, 301e9}});
  Findings found = run_.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].cost_ns, 302'000'000'000);
}

// The program's graph multiplies with one weight 48 times at cell.py:13.
TEST_F(SlowWork, AnUnrolledLoopIsWorthRollingIfCompilingIsALargePartOfTheRun) {
  for (const double seconds : {4.9, 5.0}) {
    TimedRun run;
    run.Exec(
        "INSERT INTO graph (id, hash, printed_as, node_count) VALUES (1, 'a', 'hlo_optimized', 50);"
        "INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES "
        "(1, 0, 'parameter', 'f32[64,32]', ''), (1, 1, 'parameter', 'f32[32,96]', '');"
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 49) "
        "INSERT INTO graph_node (graph_id, idx, op, shape, operands, location) "
        "SELECT 1, i, 'dot', 'f32[64,96]', '0,1', 'gru@cell.py:13' FROM n");
    run.Exec(
        fmt::format("INSERT INTO compile (process_id, ordinal, graph_id, function, ts_ns, dur_ns, "
                    "inferred) VALUES (1, 0, 1, 'train_step', 0, {}, 0)",
                    int64_t(seconds * 1e9)));
    const Findings found = run.Run(slow_compile);
    ASSERT_EQ(found.size(), seconds < 5 ? 0 : 1);
    if (seconds < 5) continue;
    const Finding& finding = found[0];
    EXPECT_EQ(finding.severity, Severity::kWarning);
    const auto& figures = CompileFigures<SlowCompilation>(finding);
    ASSERT_TRUE(figures.loop);
    EXPECT_EQ(figures.loop->turns, 48);
    EXPECT_EQ(figures.loop->place.line, 13);
    EXPECT_EQ(figures.remedy, CompileRemedy::kRollLoop);
    EXPECT_EQ(finding.reason->type, ReasonType::kUnrolledLoop);
    EXPECT_EQ(finding.saving_ns, 4'895'833'333) << "47 of 48 turns";
  }
}

TEST_F(SlowWork, GraphsWithTheSameLoopAreOneFinding) {
  TimedRun run;
  for (const int graph : {1, 2}) {
    run.Exec(fmt::format(
        "INSERT INTO graph (id, hash, printed_as, node_count) VALUES ({0}, 'h{0}', 'hlo', 49);"
        "INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES "
        "({0}, 0, 'parameter', 'f32[{0},32]', '');"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 48) "
        "INSERT INTO graph_node (graph_id, idx, op, shape, operands, location) "
        "SELECT {0}, i, 'tanh', 'f32[{0},32]', i - 1, 'sample@denoise.py:9' FROM n;"
        "INSERT INTO compile (process_id, ordinal, graph_id, ts_ns, dur_ns, inferred) "
        "VALUES (1, {0}, {0}, {0} * 10000000000, 6000000000, 0)",
        graph));
  }
  const Findings found = run.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].cost_ns, 12'000'000'000);
  EXPECT_EQ(found[0].saving_ns, 11'750'000'000);
  EXPECT_EQ(found[0].evidence.size(), 2u);
}

// The program's graph reads a table at train.py:25.
TEST_F(SlowWork, ALargeArrayIsPassedAndNotCaptured) {
  for (const char* table : {"f32[60000,256]{1,0}", "f32[6000,256]{1,0}"}) {
    TimedRun run;
    run.Exec(fmt::format(
        "INSERT INTO graph (id, hash, printed_as, node_count) VALUES (1, 'a', 'hlo_optimized', 3);"
        "INSERT INTO graph_node (graph_id, idx, op, shape, operands, location) VALUES "
        "(1, 0, 'constant', '{}', '', NULL), (1, 1, 'constant', 'f32[]', '', NULL), "
        "(1, 2, 'gather', 'f32[64,256]', '0,1', 'score@train.py:25');"
        "INSERT INTO compile (process_id, ordinal, graph_id, function, ts_ns, dur_ns, inferred) "
        "VALUES (1, 0, 1, 'step', 0, 1700000000, 0)",
        table));
    const Findings found = run.Run(slow_compile);
    const bool is_large = std::string_view(table).starts_with("f32[60000");
    ASSERT_EQ(found.size(), is_large ? 1 : 0);
    if (!is_large) continue;
    const Finding& finding = found[0];
    EXPECT_EQ(finding.severity, Severity::kWarning);
    const auto& figures = CompileFigures<SlowCompilation>(finding);
    ASSERT_TRUE(figures.array);
    EXPECT_EQ(figures.array->bytes, 61'440'000);
    EXPECT_EQ(figures.array->place.line, 25);
    EXPECT_EQ(figures.remedy, CompileRemedy::kPassArray);
  }
}

// Nobody can make a type conversion smaller.
TEST_F(SlowWork, AProgramOfOneOperation) {
  for (const char* function : {"convert_element_type", "train_step"}) {
    TimedRun run;
    run.Exec(
        fmt::format("INSERT INTO compile (process_id, ordinal, function, dur_ns, inferred) "
                    "VALUES (1, 0, '{}', 400000000000, 0)",
                    function));
    const Finding finding = run.Run(slow_compile).at(0);
    const bool is_one = function[0] == 'c';
    EXPECT_EQ(CompileFigures<SlowCompilation>(finding).remedy,
              is_one ? CompileRemedy::kFasterFirstUse : CompileRemedy::kCacheAndSmallerGraph)
        << function;
  }
}

// torch_xla repeats its own line at each step, and prints rounded parts.
TEST_F(SlowWork, TheLongestCompilationsOfTheProfilersLines) {
  auto line = [&](int id, const char* took) {
    run_.Exec(fmt::format(
        "INSERT INTO profiler_line (id, process_id, ordinal, rule, samples, steps, text) VALUES ({0}, 1, {0}, 'compile_slow', NULL, NULL, "
        "'pt-xla-profiler: CompileTime too slow: longest instance took {1}. Please open an issue')",
        id, took));
  };
  line(1, "05m20s600ms000.000us"), line(2, "05m20s600ms000.000us");
  Findings found = run_.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].words.title, "a compilation took 320 s");
  EXPECT_EQ(found[0].cost_ns, 319'600'000'000);
  EXPECT_EQ(CompileFigures<SlowCompileLines>(found[0]).lengths, 1);
  line(3, "16m40s000ms000.000us"), line(4, "05m20s600ms000.000us");
  found = run_.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].words.title, "at least 2 compilations took 320 s to 940 s each");
  EXPECT_EQ(found[0].evidence.size(), 2u);
}

TEST_F(SlowWork, TheProfilersLineMayBeUnreadable) {
  run_.Exec(
      "INSERT INTO profiler_line (id, process_id, ordinal, rule, samples, steps, text) VALUES (1, 1, 0, 'compile_slow', NULL, NULL, 'pt-xla-profiler: "
      "CompileTime too slow: longest instance took long')");
  Findings found = run_.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].words.title, "a compilation took over 300 s");
  EXPECT_EQ(found[0].cost_ns, std::nullopt);
}

// The program has thousands of unrolled operations: tracing takes longer than XLA, and no cache of
// XLA's saves it.
TEST_F(SlowWork, TracingStandsBeforeTheCompilation) {
  auto compile = [](int64_t trace_ms, int64_t ms) {
    TimedRun run;
    run.Exec(fmt::format(
        "INSERT INTO compile (process_id, ordinal, function, dur_ns, trace_ns, inferred) VALUES "
        "(1, 0, 'f', {}, {}, 0)",
        ms * 1'000'000, trace_ms * 1'000'000));
    return run.Run(cold_start)[0];
  };
  const Finding traced = compile(2240, 1270);
  EXPECT_EQ(traced.words.title,
            "the first compilation took 1.27 s, and 2.24 s of tracing before it");
  EXPECT_EQ(traced.cost_ns, 3'510'000'000);
  EXPECT_NE(traced.words.advice.find("persistent cache does not save it"), std::string::npos);
  run_.Exec(
      "INSERT INTO compile (process_id, ordinal, function, dur_ns, trace_ns, inferred) VALUES "
      "(1, 0, 'f', 2000000000, 500000000, 0), (1, 1, 'g', 1000000000, 500000000, 0)");
  EXPECT_EQ(run_.Run(cold_start)[0].words.title,
            "the first compilations of 2 places took 3 s, the slowest 2 s, and 1 s of tracing "
            "before them");
  EXPECT_EQ(compile(1000, 1270).words.advice.find("persistent cache"), std::string::npos);
}

// Each rank starts by itself, so the longest start counts.
TEST_F(SlowWork, TheLongestOfSeveralProcesses) {
  run_.Exec(
      "INSERT INTO compile (process_id, ordinal, function, dur_ns, inferred) VALUES "
      "(1, 0, 'f', 2000000000, 0), (2, 0, 'f', 3000000000, 0), (2, 1, 'g', 1000000000, 0)");
  const Findings found = run_.Run(cold_start);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cost_ns, 4'000'000'000);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(StartFigures(found[0]).processes, 2);
}

TEST_F(SlowWork, PartsOfTheFirstCompilations) {
  run_.Exec(
      "INSERT INTO graph (id, process_id, number, name) VALUES (1, 1, '0/0', 'f');"
      "INSERT INTO compile (id, process_id, ordinal, graph_id, cause, function, dur_ns, inferred) "
      "VALUES (1, 1, 0, 1, 'compiled_function', 'f', 9000000000, 0);"
      "INSERT INTO compile_phase VALUES (1, 'dynamo', 2000000000), "
      "(1, 'toolchain_probe', 7000000000)");
  const Finding finding = run_.Run(cold_start).at(0);
  EXPECT_EQ(
      finding.words.why,
      "The time consists of Dynamo 2 s and trials of the C++ compiler 7 s. A warm cache saves "
      "at most 7 s of it, because Dynamo runs again.");
}

TEST_F(SlowWork, LoadedProgramsAreNotCompiled) {
  run_.Exec(
      "INSERT INTO compile (process_id, ordinal, function, dur_ns, persistent_hit, inferred) VALUES "
      "(1, 0, 'f', 200000000, 1, 0), (1, 1, 'g', 300000000, 1, 0)");
  const Finding finding = run_.Run(cold_start).at(0);
  EXPECT_EQ(finding.words.title, "2 programs were loaded from a cache in 500 ms");
  EXPECT_EQ(finding.words.advice, "Nothing needs to change: the caches had the programs.");
}

// The window is from the first event to the first steady step.
TEST_F(SlowWork, TheTimeUntilTheFirstSteadyStep) {
  const int64_t host = run_.HostThread();
  run_.Step(host, 0, 4'000'000);
  for (int i = 0; i < 5; ++i) run_.Step(host, 4'000'000 + i * 1000, 1000);
  run_.Exec(
      "INSERT INTO compile (process_id, ordinal, function, ts_ns, dur_ns, trace_ns, inferred) VALUES "
      "(1, 0, 'f', 1000000000, 2000000000, 500000000, 0)");
  const Finding finding = run_.Run(cold_start).at(0);
  const ColdStartFigures& figures = StartFigures(finding);
  EXPECT_EQ(figures.until_steady_ns, 4'000'000'000);
  EXPECT_EQ(figures.rest_ns, 1'500'000'000);
}

TEST_F(SlowWork, HalfAMinuteOfExecutionIsTooLong) {
  for (int i = 0; i < 4; ++i) Execute(10);
  Execute(30'001);
  Findings found = run_.Run(slow_execution);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].count, 1);
  EXPECT_EQ(found[0].subject.graph_hash, "abc");
}

TEST_F(SlowWork, OutliersOfAGraphAreInfo) {
  for (int i = 0; i < 9; ++i) Execute(10);
  Execute(50);
  Findings found = run_.Run(slow_execution);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].cost_ns, 40'000'000);
}

TEST_F(SlowWork, ASpreadIsNoOutlier) {
  for (int i = 0; i < 9; ++i) Execute(10);
  Execute(49);
  EXPECT_TRUE(run_.Run(slow_execution).empty());
}

TEST_F(SlowWork, ExecutionFromMetrics) {
  run_.Metric(run_.Report(5), "ExecuteTime", MetricUnit::kNs, 100, 60e9, {{50, 1e7}, {99, 31e9}});
  ASSERT_EQ(run_.Run(slow_execution).size(), 1u);
  TimedRun fast;
  fast.Metric(fast.Report(5), "ExecuteTime", MetricUnit::kNs, 100, 60e9, {{50, 1e7}, {99, 30e9}});
  EXPECT_TRUE(fast.Run(slow_execution).empty());
}

class Transfers : public SlowWork {
 protected:
  // Records ten steps of 1 ms: a copy of `dur_us` ends each, and the device works until then and
  // for `overlap_us` longer.
  void Record(int64_t dur_us, int64_t overlap_us = 0, int every = 1) {
    int64_t host = run_.HostThread(), device = run_.Device();
    for (int i = 0; i < 10; ++i) {
      run_.Step(host, i * 1000, 1000);
      run_.Event(device, TextOf(Category::kModule), "f", i * 1000, 1000 - dur_us + overlap_us);
      if (i % every != every - 1) continue;
      run_.Exec(
          "INSERT OR IGNORE INTO site (id, function, file, line) VALUES (1, 'body', '/u/train.py', 8)");
      run_.Exec(
          fmt::format("INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, "
                      "site_id) VALUES "
                      "(1, {}, 'from_device', 4096, {}, {}, 1)",
                      i, (i * 1000 + 1000 - dur_us) * 1000, dur_us * 1000));
    }
  }
};

TEST_F(Transfers, CopiesThatLeaveTheDeviceIdle) {
  Record(50);
  Findings found = run_.Run(large_transfer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.line, 8);
  EXPECT_EQ(found[0].count, 10);
  EXPECT_EQ(found[0].cost_ns, 500'000);
  EXPECT_EQ(found[0].reason->type, ReasonType::kFromDevice);
}

TEST_F(Transfers, AReadThatWaitsForABusyDeviceIsNoCopy) {
  Record(200, 151);
  EXPECT_TRUE(run_.Run(large_transfer).empty());
}

TEST_F(Transfers, SeldomIsInfo) {
  Record(400, 0, 5);
  Findings found = run_.Run(large_transfer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
}

TEST_F(Transfers, FromMetricsByTheirBytes) {
  int64_t report = run_.Report(10);
  run_.Metric(report, "ExecuteTime", MetricUnit::kNs, 10, 100e6);
  run_.Metric(report, "InboundData", MetricUnit::kBytes, 10, 2e8, {{50, 2e7}});  // 10 ms at 20 GB/s
  run_.Metric(report, "OutboundData", MetricUnit::kBytes, 10, 2e8,
              {{50, 1e3}});  // one large upload, then small ones
  Findings found = run_.Run(large_transfer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kFromDevice);
  EXPECT_EQ(found[0].cost_ns, std::nullopt);
}

// Regression: a report lost its percentiles when a terminal wrapped them, and 4 GB of weights were
// taken for the uploads of each step.
TEST_F(Transfers, TheFirstUploadIsNotWhatIsUsual) {
  auto find = [](OptReal value_rate, OptReal rate) {
    TimedRun run;
    const int64_t report = run.Report(10);
    run.Metric(report, "ExecuteTime", MetricUnit::kNs, 10, 100e6);
    run.Metric(report, "OutboundData", MetricUnit::kBytes, 30, 4e9);
    run.Exec(fmt::format("UPDATE metric SET value_rate = {}, rate = {} WHERE name = 'OutboundData'",
                         value_rate ? fmt::to_string(*value_rate) : "NULL",
                         rate ? fmt::to_string(*rate) : "NULL"));
    return run.Run(large_transfer);
  };
  EXPECT_TRUE(find(1e6, 2.0).empty());
  EXPECT_EQ(find(260e6, 2.0)[0].severity, Severity::kWarning);
  const Findings unknown = find({}, {});
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].severity, Severity::kInfo);
}

TEST_F(Transfers, UploadsOfKnownBytesCostWhatTheyTook) {
  const int64_t report = run_.Report(10);
  run_.Metric(report, "ExecuteTime", MetricUnit::kNs, 10, 100e6);
  run_.Metric(report, "OutboundData", MetricUnit::kBytes, 10, 4e9, {{50, 4e8}});
  run_.Metric(report, "TransferToDeviceTime", MetricUnit::kNs, 10, 3e9);
  const Findings found = run_.Run(large_transfer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].words.title, "400 MB to the device a step in 1 copy");
  EXPECT_EQ(found[0].cost_ns, 3'000'000'000);
}

// Regression: a paste lost the executions, so uploads were "100 %" of the rest.
TEST_F(Transfers, UploadsBesideNoExecutionsSayNothing) {
  const int64_t report = run_.Report(40);
  run_.Metric(report, "CompileTime", MetricUnit::kNs, 1, 100e6);
  run_.Metric(report, "TransferToDeviceTime", MetricUnit::kNs, 1000, 600e6);
  EXPECT_TRUE(run_.Run(large_transfer).empty());
  run_.Metric(report, "EagerOpExecuteTime", MetricUnit::kNs, 5000, 3e9);
  EXPECT_TRUE(run_.Run(large_transfer).empty());
}

// A search in Python makes a mask for each word: the tensors are small, and each is one call.
TEST_F(Transfers, ValuesThatAreUploadedOneByOne) {
  auto find = [](int64_t values, double sum_ns, bool timed, int steps = 40) {
    TimedRun run;
    const int64_t report = run.Report(steps);
    run.Metric(report, "ExecuteTime", MetricUnit::kNs, steps, 100e6);
    run.Metric(report, "IrValueTensorToXlaData", MetricUnit::kNs, values, sum_ns);
    if (timed) run.Metric(report, "TransferToDeviceTime", MetricUnit::kNs, values, sum_ns);
    return run.Run(large_transfer);
  };
  const Findings found = find(1000, 9e9, false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].words.title, "1,000 tensors are uploaded from the host one by one, 25 a step");
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].cost_ns, 9'000'000'000);
  EXPECT_EQ(found[0].reason->type, ReasonType::kToDevice);
  EXPECT_EQ(find(1000, 99e6, false)[0].severity, Severity::kInfo);
  EXPECT_TRUE(find(1000, 49e6, false).empty());
  EXPECT_TRUE(find(50, 9e9, false).empty());
  // A model has a thousand weights, and each is uploaded once.
  EXPECT_EQ(find(1000, 9e9, false, 2)[0].severity, Severity::kInfo);
}

TEST_F(Transfers, UploadsByTheirTime) {
  auto find = [](int64_t uploads, double sum_ns, int steps = 40) {
    TimedRun run;
    const int64_t report = run.Report(steps);
    run.Metric(report, "ExecuteTime", MetricUnit::kNs, steps, 100e6);
    run.Metric(report, "CompileTime", MetricUnit::kNs, 1, 100e6);
    run.Metric(report, "TransferToDeviceTime", MetricUnit::kNs, uploads, sum_ns);
    return run.Run(large_transfer);
  };
  const Findings found = find(1000, 600e6);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].words.title,
            "1,000 uploads to the device take 600 ms, 75 % of what the report times of uploads, "
            "executions and compilations");
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].cost_ns, 600'000'000);
  EXPECT_EQ(find(1000, 100e6)[0].severity, Severity::kInfo);
  EXPECT_TRUE(find(1000, 80e6).empty());
  EXPECT_TRUE(find(9, 600e6).empty());
  EXPECT_EQ(find(1000, 600e6, 2)[0].severity, Severity::kInfo);
}

TEST_F(SlowWork, Empty) {
  EXPECT_TRUE(run_.Run(slow_compile).empty());
  EXPECT_TRUE(run_.Run(slow_execution).empty());
  EXPECT_TRUE(run_.Run(large_transfer).empty());
}

}  // namespace
}  // namespace xlaprof
