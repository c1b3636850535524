#include "analyzers/device_gap.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer device_gap;

namespace {

const DeviceGapFigures& GapFiguresOf(const Finding& finding) {
  return std::any_cast<const DeviceGapFigures&>(finding.figures);
}

// Makes ten steps of 1 ms: the device works for `busy_us` at the start of each, and the host is in
// scope `watermark` for `scope_us`.
class DeviceGap : public testing::Test {
 protected:
  void Steps(int64_t busy_us, int64_t scope_us, int every = 1,
             std::string_view scope_category = TextOf(Category::kScope)) {
    host_ = run_.HostThread();
    int64_t device = run_.Device();
    for (int i = 0; i < 10; ++i) {
      const int64_t t = i * 1000;
      run_.Step(host_, t, 1000);
      const bool in_scope = i % every == every - 1;
      run_.Event(device, TextOf(Category::kModule), "step", t, in_scope ? busy_us : 1000);
      if (in_scope) run_.Event(host_, scope_category, "watermark", t + busy_us, scope_us);
    }
  }
  Findings Warnings() {
    Findings out;
    for (Finding& f : run_.Run(device_gap)) {
      if (f.severity != Severity::kInfo) out.push_back(std::move(f));
    }
    return out;
  }
  TimedRun run_;
  int64_t host_ = 0;
};

TEST_F(DeviceGap, ScopeThatKeepsTheDeviceWaiting) {
  Steps(900, 100);
  Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.scope, "watermark");
  EXPECT_EQ(found[0].count, 10);
  EXPECT_EQ(found[0].per_step, 1.0);
  EXPECT_EQ(found[0].cost_ns, 1'000'000);
  EXPECT_EQ(found[0].reason->type, ReasonType::kUserScope);
  EXPECT_FALSE(found[0].evidence.empty());
}

// The program runs on TPU:0. Another device only copies a little, long after the last step.
TEST_F(DeviceGap, ADeviceThatTakesNoPartInTheStepsIsNotIdle) {
  Steps(1000, 0);
  const int64_t other = run_.Device("TPU:1");
  for (int64_t t : {90'000, 95'000, 99'000})
    run_.Event(other, TextOf(Category::kOp), "copy", t, 10);
  EXPECT_TRUE(Warnings().empty());
  // If no device works in the steps, the work was queued for later, and the device waits for it.
  TimedRun late;
  const int64_t host = late.HostThread(), device = late.Device();
  for (int64_t i = 0; i < 10; ++i) {
    late.Step(host, i * 10, 10);
    late.Event(device, TextOf(Category::kModule), "step", 1000 + i * 100, 50);
  }
  EXPECT_FALSE(late.Run(device_gap).empty());
}

TEST_F(DeviceGap, FiveInAHundredJustFires) {
  Steps(950, 50);
  EXPECT_EQ(Warnings().size(), 1u);
}

TEST_F(DeviceGap, LessJustDoesNot) {
  Steps(951, 49);
  EXPECT_TRUE(run_.Run(device_gap).empty());
}

// A gap belongs to the scope that covers most of it, and removing that scope saves its own time.
TEST_F(DeviceGap, AGapBelongsWholeToTheScopeThatTakesMostOfIt) {
  const int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 10; ++i) {
    const int64_t t = i * 1000;
    run_.Step(host, t, 1000);
    run_.Event(device, TextOf(Category::kModule), "step", t, 880);
    run_.Event(host, TextOf(Category::kScope), "other", t + 880, 65);
    run_.Event(host, TextOf(Category::kScope), "log", t + 945, 55);
  }
  const Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.scope, "other");
  EXPECT_EQ(found[0].count, 10);
  EXPECT_EQ(found[0].cost_ns, 1'200'000);
  EXPECT_EQ(found[0].saving_ns, 650'000);
}

// A cause is judged without its longest part: it must recur in other steps.
TEST_F(DeviceGap, ALongGapDoesNotMakeShortOnesAPattern) {
  const int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 10; ++i) {
    const int64_t t = i * 1000, log_us = i == 5 ? 700 : 10;
    run_.Step(host, t, 1000);
    run_.Event(device, TextOf(Category::kModule), "step", t, 1000 - log_us);
    run_.Event(host, TextOf(Category::kScope), "log", t + 1000 - log_us, log_us);
  }
  EXPECT_TRUE(Warnings().empty());
}

TEST_F(DeviceGap, EveryThirdStepIsAPattern) {
  Steps(500, 500, 3);
  Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 3);
}

TEST_F(DeviceGap, OnceIsNone) {
  Steps(400, 600, 10);
  Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].cost_ns, 600'000);
}

// Each of twenty-five scopes takes two hundredths of the time.
TEST_F(DeviceGap, ScopesOfALittleEachAreToldTogether) {
  int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 50; ++i) {
    run_.Step(host, i * 1000, 1000);
    run_.Event(device, TextOf(Category::kModule), "step", i * 1000, 500);
    run_.Event(host, TextOf(Category::kScope), fmt::format("layer {}", i % 25), i * 1000 + 500,
               500);
  }
  Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cost_ns, 25'000'000);
  EXPECT_EQ(found[0].count, 50);
  EXPECT_EQ(found[0].subject.scope, OptText());
  EXPECT_EQ(GapFiguresOf(found[0]).scopes, 25);
  EXPECT_EQ(GapFiguresOf(found[0]).scope, "layer 0");
  EXPECT_EQ(found[0].evidence.size(), 8u);
}

// PyTorch's profiler gives each step a name of its own.
TEST_F(DeviceGap, NumbersOfStepsDoNotDivideWhatTheyShare) {
  int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 50; ++i) {
    run_.Step(host, i * 1000, 1000, fmt::format("ProfilerStep#{}", i));
    run_.Event(device, TextOf(Category::kModule), "step", i * 1000, 500);
  }
  Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.scope, "ProfilerStep");
  EXPECT_EQ(found[0].cost_ns, 25'000'000);
}

// None of these gaps is long, but together they are half of the time.
TEST_F(DeviceGap, ManySmallGapsAreSummed) {
  int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 10; ++i) run_.Step(host, i * 1000, 1000);
  for (int i = 0; i < 1000; ++i) {
    run_.Event(device, TextOf(Category::kModule), "tiny", i * 10, 5);
    run_.Event(host, TextOf(Category::kExecute), "enqueue", i * 10 + 5, 5);
  }
  Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kExecute);
  EXPECT_EQ(found[0].count, 1000);
  EXPECT_EQ(found[0].cost_ns, 5'000'000);
}

TEST_F(DeviceGap, IdleDuringCompilationIsPricedElsewhere) {
  Steps(500, 500, 1, TextOf(Category::kCompile));
  Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].reason->type, ReasonType::kCompile);
}

// JAX traces again before it compiles: idle time in such a step belongs to the recompilation, except
// for gaps that the user's own scope takes most of.
TEST_F(DeviceGap, StepsThatCompileAreRecompilations) {
  int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 10; ++i) {
    const bool compiles = i == 0 || i >= 6;
    int64_t step = run_.Step(host, i * 1000, 1000);
    run_.Event(device, TextOf(Category::kModule), "step", i * 1000, compiles ? 200 : 900);
    run_.Event(host, TextOf(Category::kScope), "augment", i * 1000 + 900, 100);
    if (!compiles) continue;
    run_.Event(host, TextOf(Category::kTracing), "trace_to_jaxpr", i * 1000 + 200, 700);
    run_.Exec(fmt::format(
        "INSERT INTO compile (process_id, ordinal, step_id, inferred) VALUES (1, {}, {}, 0)", i,
        step));
  }
  Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kStartUp);
  EXPECT_EQ(found[1].reason->type, ReasonType::kCompile);
  EXPECT_EQ(found[1].severity, Severity::kInfo);
  EXPECT_EQ(found[1].cost_ns, 4 * 800'000);
  EXPECT_EQ(found[2].subject.scope, "augment");
  EXPECT_EQ(found[2].severity, Severity::kWarning);
  EXPECT_EQ(found[2].cost_ns, 5 * 100'000);
}

// If each step compiles, there is no usual step, and the moments between steps are not reported.
TEST_F(DeviceGap, TheMomentsBetweenStepsThatCompileAreNothing) {
  int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 12; ++i) {
    int64_t step = run_.Step(host, i * 1000, 990);
    run_.Event(device, TextOf(Category::kModule), "step", i * 1000 + 900, 90);
    run_.Event(host, TextOf(Category::kCompile), "Compile", i * 1000, 900);
    run_.Exec(fmt::format(
        "INSERT INTO compile (process_id, ordinal, step_id, inferred) VALUES (1, {}, {}, 0)", i,
        step));
  }
  for (const Finding& f : run_.Run(device_gap))
    EXPECT_EQ(f.severity, Severity::kInfo) << f.words.title;
}

TEST_F(DeviceGap, WarmUpIsNoFindingAboveInfo) {
  int64_t host = run_.HostThread(), device = run_.Device();
  for (int i = 0; i < 8; ++i) run_.Step(host, i * 1000, 1000);
  run_.Exec(
      "INSERT INTO compile (process_id, ordinal, step_id, inferred) VALUES (1, 0, 1, 0), (1, 1, 2, "
      "0)");
  run_.Event(device, TextOf(Category::kModule), "step", 0, 10);
  run_.Event(device, TextOf(Category::kModule), "step", 1900, 6100);
  for (const Finding& f : run_.Run(device_gap))
    EXPECT_EQ(f.severity, Severity::kInfo) << f.words.title;
}

// Under XLA_IR_DEBUG, a scope in which ops are recorded is slow because of the debug setting.
TEST_F(DeviceGap, TracingUnderDebugSettingsIsTheCapturesOwnFault) {
  Steps(800, 200);
  run_.Exec(
      "INSERT INTO setting (process_id, name, value, evidence) VALUES (1, 'ir_debug', '1', 'scopes in graphs');"
      "INSERT INTO graph (id, hash) VALUES (1, 'abc');"
      "INSERT INTO graph_node (graph_id, idx, op, shape, operands, scope) VALUES "
      "(1, 0, 'aten::mul', 'f32[]', '', 'train.1/watermark.1/aten::mul.3'), "
      "(1, 1, 'aten::add', 'f32[]', '', 'train.1/watermark.1')");
  Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].reason->type, ReasonType::kCaptureSettings);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kScopeTraces);
}

// Makes twenty executions of 60 ms. Between them the host uploads four tensors, and before each of
// these it records nothing for 9 ms.
class UnrecordedUploads : public testing::Test {
 protected:
  UnrecordedUploads() { Fill(run_, 9000, 9000, 1000); }
  // Makes steps of 100 ms. The device works for 60 ms of each. Then come four uploads of `dur_us`, the
  // first after `first_us`, and one every `every_us`.
  static void Fill(TimedRun& run, int64_t first_us, int64_t every_us, int64_t dur_us) {
    const int64_t host = run.HostThread(), device = run.Device();
    for (int i = 0; i < 20; ++i) {
      const int64_t t = i * 100'000;
      run.Event(host, TextOf(Category::kExecute), "Execute", t, 10);
      run.Event(device, TextOf(Category::kModule), "step", t, 60'000);
      for (int upload = 0; upload < 4; ++upload) {
        const int64_t ts_us = t + 60'000 + first_us + upload * every_us;
        run.Event(host, TextOf(Category::kTransfer), "TransferToDevice", ts_us, dur_us);
        EXPECT_TRUE(run.store()
                        .Add(TransferRow{.process_id = 1,
                                         .ordinal = i * 4 + upload,
                                         .direction = Direction::kToDevice,
                                         .ts_ns = ts_us * 1000,
                                         .dur_ns = dur_us * 1000,
                                         .track_id = host})
                        .ok());
      }
      EXPECT_TRUE(
          run.store()
              .Add(ExecutionRow{.process_id = 1, .ordinal = i, .graph_id = 1, .ts_ns = t * 1000})
              .ok());
    }
  }
  static void Bytes(TimedRun& run, double usual, double largest) {
    run.Metric(run.Report(20), "OutboundData", MetricUnit::kBytes, 80, 80 * usual,
               {{50, usual}, {99, largest}});
  }
  void Bytes(double each) { Bytes(run_, each, each); }
  TimedRun run_;
};

TEST_F(UnrecordedUploads, AreNamedAtTheLineOfTheInputsOfTheirSize) {
  Bytes(8 * 384 * 384 * 4);
  run_.Exec("INSERT INTO graph (id, hash) VALUES (1, 'abc')");
  for (int i = 0; i < 4; ++i) {
    run_.Exec(fmt::format(
        "INSERT INTO graph_node (graph_id, idx, op, shape, operands, location) VALUES "
        "(1, {}, 'xla::device_data', 'f32[8,384,384]{{2,1,0}}', '', 'bias@attention.py:21'), "
        "(1, {}, 'xla::device_data', 'f32[32,32]', '', 'forward@linear.py:134')",
        2 * i, 2 * i + 1));
  }
  const Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].reason->type, ReasonType::kInput);
  EXPECT_EQ(found[0].subject.file, "attention.py");
  EXPECT_EQ(found[0].subject.line, 21);
}

TEST_F(UnrecordedUploads, HaveNoLineWithoutTheGraph) {
  Bytes(1e6);
  const Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].reason->type, ReasonType::kInput);
  EXPECT_FALSE(found[0].subject.file);
}

// Python traces the graph before a number is uploaded, and that is not recorded either.
TEST_F(UnrecordedUploads, OfNumbersSayNothing) {
  Bytes(4);
  const Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kUnseen);
}

// The host makes a batch before the first upload of a step. What is unrecorded later is tracing.
TEST_F(UnrecordedUploads, OfABatchAreNamedIfTheTimeComesBeforeThem) {
  for (const auto& [first_us, every_us] : {std::pair(36'000, 200), std::pair(2000, 9000)}) {
    for (const double largest : {24e3, 8.0}) {
      TimedRun run;
      Fill(run, first_us, every_us, 100);
      Bytes(run, 4, largest);
      const Findings found = run.Run(device_gap);
      ASSERT_EQ(found.size(), 1u);
      const bool is_batch = first_us > every_us && largest > 8;
      EXPECT_EQ(GapFiguresOf(found[0]).verdict,
                is_batch ? DeviceGapVerdict::kPattern : DeviceGapVerdict::kUnseen);
    }
  }
}

// The host works after a fetch, so nobody knows whether it makes a batch or works with what it fetched.
TEST_F(UnrecordedUploads, MayFollowFromAFetch) {
  for (const bool fetches : {false, true}) {
    TimedRun run;
    Fill(run, 36'000, 200, 100);
    Bytes(run, 4, 24e3);
    for (int i = 0; i < 20 && fetches; ++i) {
      EXPECT_TRUE(run.store()
                      .Add(TransferRow{.process_id = 1,
                                       .ordinal = 1000 + i,
                                       .direction = Direction::kFromDevice,
                                       .ts_ns = (i * 100'000 + 59'000) * 1000,
                                       .dur_ns = 2'000'000})
                      .ok());
    }
    const Findings found = run.Run(device_gap);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, Severity::kWarning);
    EXPECT_EQ(found[0].reason->type, fetches ? ReasonType::kUserScope : ReasonType::kInput);
  }
}

TEST_F(DeviceGap, AFunctionThatOnlyTheHostRunsIsNamedWithItsPlace) {
  Steps(700, 0);
  for (int i = 0; i < 10; ++i)
    run_.Event(host_, TextOf(Category::kPython), "$optim.py:10 update", i * 1000 + 705, 290);
  const Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kUserScope);
  EXPECT_EQ(found[0].subject.file, "optim.py");
  EXPECT_EQ(found[0].subject.line, 10);
  EXPECT_EQ(found[0].subject.function, "update");
  EXPECT_FALSE(found[0].subject.scope);
  EXPECT_EQ(found[0].saving_ns, 2'900'000);
}

// The tracer costs about a microsecond per call: hundreds of calls explain half a millisecond, but
// a few do not.
TEST_F(DeviceGap, ThePythonTracerExplainsAsMuchAsItsCalls) {
  Steps(500, 500);
  run_.Exec(
      "INSERT INTO setting (process_id, name, value, evidence) VALUES (1, 'python_tracer', 'on', '$ events')");
  for (int i = 0; i < 10; ++i)
    run_.Event(host_, TextOf(Category::kPython), "$time.py:1 sleep", i * 1000 + 501, 1);
  EXPECT_EQ(Warnings().size(), 1u);
  for (int i = 0; i < 2000; ++i) {
    run_.Event(host_, TextOf(Category::kPython), "$augment.py:7 f", i / 200 * 1000 + 502 + i % 200,
               1);
  }
  Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].reason->type, ReasonType::kCaptureSettings);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kPythonTracer);
}

// PT_XLA_DEBUG writes the C++ stack of each read.
TEST_F(DeviceGap, StacksOfFallbacksAreTheCapturesOwnFault) {
  Steps(800, 200);
  run_.Exec(
      "INSERT INTO execution (process_id, ordinal, cause, scope) VALUES (1, 0, 'value_access', "
      "'train/watermark')");
  EXPECT_EQ(Warnings().size(), 1u);
  run_.Exec(
      "INSERT INTO profiler_line (process_id, ordinal, rule, text) VALUES (1, 0, 'not_lowered', "
      "'pt-xla-profiler: ...')");
  Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kCaptureSettings);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kScopeReads);
}

// Only graphs show whether XLA_IR_DEBUG slowed down tracing, and a Chrome trace has none.
TEST_F(DeviceGap, TracingInATraceWithoutGraphsIsNotJudged) {
  Steps(800, 200, 1, TextOf(Category::kTracing));
  run_.Exec("INSERT INTO graph (process_id, printed_as) VALUES (1, 'hlo')");
  EXPECT_EQ(Warnings().size(), 1u);
  run_.Exec("DELETE FROM graph");
  const Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kMaySlowTracing);
}

// A loop in `assign` starts 1,200 executions of 10 us, 90 us apart, of `programs` programs.
class SmallExecutionsOfAnyProgram : public testing::Test {
 protected:
  void Execute(int programs) {
    const int64_t host = run_.HostThread(), device = run_.Device();
    for (int i = 0; i < programs; ++i) {
      run_.Exec(fmt::format("INSERT INTO graph (id, hash, name) VALUES ({0}, 'h{0}', 'jit_f{0}')",
                            i + 1));
    }
    for (int i = 0; i < 1200; ++i) {
      const int64_t t = i * 100;
      if (i % 300 == 0)
        run_.Event(host, TextOf(Category::kPython), "$track.py:28 assign", t, 30'000);
      run_.Event(host, TextOf(Category::kExecute), "PjitFunction(f)", t, 80);
      run_.Event(device, TextOf(Category::kModule), "f", t + 85, 10);
      EXPECT_TRUE(run_.store()
                      .Add(ExecutionRow{.process_id = 1,
                                        .ordinal = i,
                                        .graph_id = 1 + i % programs,
                                        .ts_ns = (t + 85) * 1000,
                                        .dur_ns = 10'000})
                      .ok());
    }
  }
  TimedRun run_;
};

TEST_F(SmallExecutionsOfAnyProgram, AreNamedWithTheFunctionThatStartsThem) {
  Execute(10);
  const Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].reason->type, ReasonType::kExecute);
  EXPECT_EQ(found[0].subject.file, "track.py");
  EXPECT_EQ(found[0].subject.line, 28);
  ASSERT_TRUE(GapFiguresOf(found[0]).small_executions);
  EXPECT_EQ(GapFiguresOf(found[0]).small_executions->mean_ns, 10'000);
}

// A small model executes one small program in each step.
TEST_F(SmallExecutionsOfAnyProgram, AreThoseOfASmallModelIfThereIsOneProgram) {
  Execute(1);
  for (const Finding& finding : run_.Run(device_gap))
    EXPECT_FALSE(GapFiguresOf(finding).small_executions);
}

// A profile may count steps that it does not show.
TEST_F(SmallExecutionsOfAnyProgram, AreOneInEachStepWithoutATime) {
  Execute(10);
  for (int i = 0; i < 1200; ++i)
    EXPECT_TRUE(run_.store().Add(StepRow{.process_id = 1, .ordinal = i}).ok());
  for (const Finding& finding : run_.Run(device_gap))
    EXPECT_FALSE(GapFiguresOf(finding).small_executions);
}

// The recording of two ops does not explain 100 ms.
TEST_F(DeviceGap, TracingExplainsOnlyAsMuchAsItsOpsCanTake) {
  host_ = run_.HostThread();
  int64_t device = run_.Device();
  for (int i = 0; i < 10; ++i) {
    run_.Step(host_, i * 200'000, 200'000);
    run_.Event(device, TextOf(Category::kModule), "step", i * 200'000, 100'000);
    run_.Event(host_, TextOf(Category::kScope), "watermark", i * 200'000 + 100'000, 100'000);
  }
  run_.Exec(
      "INSERT INTO graph (id, hash) VALUES (1, 'abc');"
      "INSERT INTO graph_node (graph_id, idx, op, shape, operands, scope) VALUES "
      "(1, 0, 'aten::mul', 'f32[]', '', 'train.1/watermark.1'), (1, 1, 'aten::add', 'f32[]', '', "
      "'train.1/watermark.1')");
  EXPECT_EQ(Warnings().size(), 1u);
}

TEST_F(DeviceGap, TheLineThatReadsInTheScope) {
  Steps(500, 500);
  run_.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, 'body', '/u/train.py', 13), (2, 'body', '/u/train.py', 99);"
      "INSERT INTO execution (process_id, ordinal, site_id, scope) VALUES (1, 0, 1, "
      "'train/watermark'), "
      "(1, 1, 2, 'train'), (1, 2, 2, 'train/watermark/inner')");
  Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.line, 13);
  EXPECT_EQ(found[0].subject.file, "/u/train.py");
}

// The ops of one execution leave holes on a CPU, but the device is not free in them.
TEST_F(DeviceGap, HolesInsideAnExecutionAreNoGaps) {
  int64_t host = run_.HostThread(), eigen = run_.HostThread("tf_XLAEigen");
  for (int i = 0; i < 10; ++i) {
    run_.Step(host, i * 1000, 1000);
    run_.Event(eigen, TextOf(Category::kOp), "dot", i * 1000, 10);
    run_.Event(eigen, TextOf(Category::kOp), "dot", i * 1000 + 985, 10);
    run_.Exec(
        fmt::format("INSERT INTO execution (process_id, ordinal, ts_ns, dur_ns, device) VALUES (1, "
                    "{}, {}, 995000, 'CPU:0')",
                    i, i * 1'000'000));
  }
  EXPECT_TRUE(run_.Run(device_gap).empty());
}

// An execution that extends into the selected step from the one before does not make that step
// longer.
TEST_F(DeviceGap, SharesOfAStepAreOfThatStep) {
  Steps(500, 500);
  run_.Exec(
      "INSERT INTO execution (process_id, ordinal, step_id, ts_ns, dur_ns, device) VALUES (1, 0, "
      "6, 5900000, 3000000, 'TPU:0')");
  ASSERT_TRUE(run_.store().Restrict({.first_step = 5, .last_step = 5}).ok());
  const Findings found = run_.Run(device_gap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cost_ns, 400'000);
  EXPECT_EQ(GapFiguresOf(found[0]).share, 0.4);
  EXPECT_EQ(GapFiguresOf(found[0]).share_of, IdleShareOf::kSteadySteps);
}

TEST_F(DeviceGap, Empty) { EXPECT_TRUE(run_.Run(device_gap).empty()); }

// A kernel is launched at the start of each step of 20 ms, and begins `wait_us` later.
Findings LateKernels(TimedRun& run, int64_t wait_us, std::string_view copy) {
  const int64_t host = run.HostThread(), stream = run.Stream(), copies = run.Stream();
  for (int i = 0; i < 10; ++i) {
    const int64_t t = i * 20'000;
    const uint64_t flow = uint64_t(i) + 1;
    run.Step(host, t, 20'000);
    run.Flow(host, TextOf(Category::kExecute), "cudaLaunchKernel", t - 100, 5, 0, flow);
    run.Flow(stream, TextOf(Category::kOp), "gemm", t + wait_us, 20'000 - wait_us, flow, 0);
    if (copy.empty()) continue;
    EXPECT_TRUE(run.store()
                    .Add(TransferRow{.process_id = 1,
                                     .ordinal = i,
                                     .direction = Direction::kToDevice,
                                     .ts_ns = t * 1000,
                                     .dur_ns = wait_us * 1000,
                                     .device = "GPU:0"})
                    .ok());
    run.Event(copies, TextOf(Category::kAsyncOp), copy, t, wait_us);
  }
  return run.Run(device_gap);
}

TEST_F(DeviceGap, ALaunchedKernelThatWaitsLongWaitsForSomethingThatIsNotInTheFile) {
  const Findings found = LateKernels(run_, 4000, "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kUnrecorded);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_EQ(found[0].saving_ns, std::nullopt);
}

TEST_F(DeviceGap, ACopyExplainsThatALaunchedKernelWaits) {
  const Findings found = LateKernels(run_, 4000, "Memcpy HtoD (Pinned -> Device)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kPattern);
  EXPECT_EQ(found[0].reason->type, ReasonType::kKernelWait);
}

TEST_F(DeviceGap, ADeviceOfWhichOnlyCopiesWereRecordedIsNotJudged) {
  host_ = run_.HostThread();
  const int64_t stream = run_.Stream();
  for (int i = 0; i < 10; ++i) {
    run_.Step(host_, i * 1000, 1000);
    run_.Event(host_, TextOf(Category::kScope), "work", i * 1000 + 10, 900);
    run_.Event(stream, TextOf(Category::kOp), "CopyDeviceToDevice", i * 1000, 5);
  }
  EXPECT_TRUE(run_.Run(device_gap).empty());
}

// The first of three steps is cold. What the others have recurs.
TEST_F(DeviceGap, TheCostOfAPatternIsWhatMostStepsHave) {
  host_ = run_.HostThread();
  const int64_t device = run_.Device();
  const int64_t idle_us[] = {0, 0, 0, 0, 0, 900, 100, 200, 100, 100};
  for (int i = 0; i < 10; ++i) {
    run_.Step(host_, i * 1000, 1000);
    run_.Event(device, TextOf(Category::kModule), "step", i * 1000, 1000 - idle_us[i]);
    if (idle_us[i] > 0)
      run_.Event(host_, TextOf(Category::kScope), "watermark", (i + 1) * 1000 - idle_us[i],
                 idle_us[i]);
  }
  const Findings found = Warnings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cost_ns, (200 + 100 + 200 + 100 + 100) * 1000);
  EXPECT_EQ(found[0].saving_ns, found[0].cost_ns);
}

// Adds ten kernels of `kernel_us` without steps, each launched 1 ms after the one before ended.
Findings LateLaunches(TimedRun& run, int64_t kernel_us) {
  const int64_t host = run.HostThread(), stream = run.Stream();
  for (int i = 0; i < 10; ++i) {
    const int64_t t = i * (kernel_us + 1000);
    const uint64_t flow = uint64_t(i) + 1;
    run.Flow(host, TextOf(Category::kExecute), "cudaLaunchKernel", t - 5, 5, 0, flow);
    run.Flow(stream, TextOf(Category::kOp), "gemm", t, kernel_us, flow, 0);
  }
  return run.Run(device_gap);
}

TEST_F(DeviceGap, ACaptureOfAFewMillisecondsWithoutStepsShowsNoPattern) {
  const Findings found = LateLaunches(run_, 1000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kTooShort);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
}

TEST_F(DeviceGap, ALongerCaptureDoes) {
  const Findings found = LateLaunches(run_, 2000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(GapFiguresOf(found[0]).verdict, DeviceGapVerdict::kPattern);
}

}  // namespace
}  // namespace xlaprof
