// Tests when recompiles are a warning, and when any program has them.
#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

TEST(RecompilationSeverity, ASmallLastBatchIsToldApart) {
  RecompileRun run;
  BatchesOf(run, {64, 64, 64, 64, 64, 40, 64, 64, 64, 64, 64, 40});
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kInfo);  // happened once, and is settled
  EXPECT_TRUE(FiguresOfRecompiles(finding).is_rare_smaller_size);
}

TEST(RecompilationSeverity, ACleanStartIsWarmUpAndInfo) {
  RecompileRun run;
  TestNodes first = TrainStep(8);
  first[0] = {.op = "prim::Constant", .shape = "f32[16]"};
  run.Step(run.Graph("a", first));
  run.Steps(run.Graph("b", TrainStep(8)), 20);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.reason->state, State::kWarmUp);
  EXPECT_EQ(finding.reason->type, ReasonType::kOpChange);
}

TEST(RecompilationSeverity, ABurstSaysWhen) {
  RecompileRun run;
  std::vector<int64_t> sizes(40, 64);
  sizes[20] = 1, sizes[21] = 2, sizes[22] = 3;
  BatchesOf(run, sizes);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->state, State::kBurst);
  EXPECT_EQ(finding.reason->step, 20);
  EXPECT_EQ(finding.severity, Severity::kWarning);
}

// Regression: a number that became a constant once compiled for each of three sizes of batches, which was a
// burst and a warning.
TEST(RecompilationSeverity, OneChangeForEachSizeIsNoBurst) {
  // Each with its number of inputs and their size.
  using Programs = std::vector<std::pair<int64_t, int64_t>>;
  const Programs first{{41, 990'000}, {95, 2'950'000}, {95, 2'958'000}, {95, 2'961'000}};
  const auto severity = [&](const Programs& later) {
    RecompileRun run;
    int64_t graph = 0, number = 0;
    for (const Programs& programs : {first, later}) {
      for (const auto& [inputs, bytes] : programs) {
        graph = run.Graph(fmt::format("g{}", number++), {}, std::nullopt, inputs, 135);
        run.Step(graph, {.input_bytes = bytes});
      }
      run.Steps(graph, 100);
    }
    for (const Finding& finding : run.Find()) {
      if (finding.reason->type != ReasonType::kUnknown) continue;
      EXPECT_EQ(finding.reason->state, State::kBurst);
      return finding.severity;
    }
    ADD_FAILURE() << "no finding";
    return Severity::kError;
  };
  EXPECT_EQ(severity({{94, 2'961'000}, {94, 2'950'000}, {94, 2'958'000}}), Severity::kInfo);
  EXPECT_EQ(severity({{94, 2'961'000}, {93, 2'961'000}, {92, 2'961'000}}), Severity::kWarning);
}

TEST(RecompilationSeverity, IsAnErrorIfMostOfTheTimeCanBeSaved) {
  RecompileRun run;
  BatchesOf(run, {64, 64, 64, 48, 17, 33, 9, 25}, {.dur_ns = 1'000'000'000});
  EXPECT_EQ(run.TheFinding().severity, Severity::kWarning);
  run.Exec("UPDATE compile SET ts_ns = ordinal * 1000000000");  // now the run has a length
  EXPECT_EQ(run.TheFinding().severity, Severity::kWarning);
  run.Exec("UPDATE compile SET dur_ns = 2000000000");
  EXPECT_EQ(run.TheFinding().severity, Severity::kWarning);
  run.Exec("UPDATE compile SET dur_ns = 4000000000");
  EXPECT_EQ(run.TheFinding().severity, Severity::kError);
}

TEST(RecompilationSeverity, WhatIsOverAndWasDearIsAWarning) {
  // Ten sizes in the first steps are followed by a hundred steps of the last size. They are
  // reported if the run spent its time on them.
  RecompileRun run;
  std::vector<int64_t> sizes(110, 64);
  for (int64_t i = 0; i < 10; ++i) sizes[size_t(i)] = 8 + i;
  BatchesOf(run, sizes, {.dur_ns = 1'000'000'000});
  EXPECT_EQ(run.TheFinding().reason->state, State::kSettled);
  EXPECT_EQ(run.TheFinding().severity, Severity::kInfo);  // the run has no times
  run.Exec("UPDATE compile SET ts_ns = ordinal * 1000000000");
  run.Exec("UPDATE step SET ts_ns = 1000000000 * ordinal, dur_ns = 1000000000");
  EXPECT_EQ(run.TheFinding().severity, Severity::kInfo);
  run.Exec("UPDATE compile SET dur_ns = 1200000000");
  EXPECT_EQ(run.TheFinding().severity, Severity::kWarning);
}

// Runs programs by turns, or one after the other, in a process that was observed from start to end. Their
// times are equal shares of a metric, so none has a start.
Finding FoundAtPlace(bool take_turns, int64_t process_ns) {
  RecompileRun run;
  std::vector<int64_t> graphs;
  for (int i = 0; i < 5; ++i)
    graphs.push_back(run.Graph(fmt::format("g{}", i), {}, std::nullopt, 40 + 10 * i, 100 - 7 * i));
  const How how{.dur_ns = 1'000'000'000};
  for (int i = 0; i < 80; ++i)
    run.Step(graphs[size_t(std::min(take_turns && i > 16 ? i % 5 : i / 4, 4))], how);
  run.Exec("UPDATE compile SET dur_from = 'metrics_share'");
  EXPECT_TRUE(run.store()
                  .Add(ObservedProcessRow{.process_id = run.process(),
                                          .command = "train.py",
                                          .ts_ns = 0,
                                          .dur_ns = process_ns,
                                          .ended = true})
                  .ok());
  return run.TheFinding();
}

// Regression: four programs by turns took half of the run, and were no warning, because only times of a
// profile were compared with the time of the process.
TEST(RecompilationSeverity, WhatIsOverAndTookAPartOfTheProcessIsAWarning) {
  const Finding finding = FoundAtPlace(true, 15'000'000'000);
  EXPECT_EQ(finding.reason->state, State::kSettled);
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_TRUE(FiguresOfRecompiles(finding).cost.is_of_process);
  EXPECT_NEAR(FiguresOfRecompiles(finding).cost.profile_share.value_or(0), 4.0 / 15, 1e-6);
  EXPECT_EQ(FoundAtPlace(true, 60'000'000'000).severity, Severity::kInfo);
  // Phases, such as an evaluation, each compile their own programs once.
  EXPECT_EQ(FoundAtPlace(false, 15'000'000'000).severity, Severity::kInfo);
}

TEST(RecompilationSeverity, AFewSizesThatALaterPhaseBeginsWithAreNoWarning) {
  const auto severity = [](int last) {
    RecompileRun run;
    const int64_t train = run.Graph("t", TrainStep(64));
    run.Steps(train, 100, {.line = 30});
    std::vector<int64_t> sizes(100, 48);
    sizes[0] = 32, sizes[1] = 16, sizes[size_t(last)] = 24;
    BatchesOf(run, sizes, {.dur_ns = 1'000'000'000});
    run.Exec("UPDATE compile SET ts_ns = ordinal * 50000000");
    return run.TheFinding().severity;
  };
  EXPECT_EQ(severity(4), Severity::kInfo);
  EXPECT_EQ(severity(30), Severity::kWarning);
}

TEST(RecompilationSeverity, UnknownChangesThatGoOnAreAnErrorIfTheyTakeMostOfTheRun) {
  RecompileRun run;
  for (int i = 0; i < 20; ++i)
    run.Step(run.Graph(fmt::format("g{}", i), {}, std::nullopt, 27, 34),
             {.dur_ns = 1'000'000'000, .input_bytes = 1000});
  run.Exec("UPDATE compile SET ts_ns = ordinal * 1000000000");
  EXPECT_EQ(run.TheFinding().severity, Severity::kWarning);
  run.Exec("UPDATE compile SET ts_ns = ordinal * 700000000");
  EXPECT_EQ(run.TheFinding().reason->type, ReasonType::kUnknown);
  EXPECT_EQ(run.TheFinding().severity, Severity::kError);
}

TEST(RecompilationSeverity, WithoutStepsTheStateIsUnknown) {
  RecompileRun run;
  for (int i = 0; i < 12; ++i) run.Step(run.Graph("g" + std::to_string(i), TrainStep(i + 1)));
  run.Exec("DELETE FROM step");
  EXPECT_EQ(run.TheFinding().reason->state,
            State::kOngoing);  // counted by the executions that end a step
  run.Exec("DELETE FROM execution");
  EXPECT_EQ(run.TheFinding().reason->state, State::kUnknown);
  EXPECT_EQ(run.TheFinding().severity, Severity::kWarning);
}

// A log of JAX alone has neither steps nor executions.
TEST(RecompilationSeverity, AFewSizesWithoutStepsMayBeBuckets) {
  for (const int sizes : {3, 4}) {
    RecompileRun run;
    for (int i = 0; i < sizes; ++i)
      run.Step(run.Graph("g" + std::to_string(i), TrainStep(i + 1)), {.dur_ns = 3'000'000'000});
    run.Exec("DELETE FROM step; DELETE FROM execution");
    EXPECT_EQ(run.TheFinding().severity, sizes == 3 ? Severity::kInfo : Severity::kWarning);
  }
}

// Two compiles of the first steps and a single one near the end, of graphs that nothing printed.
TEST(RecompilationSeverity, PowersOfTwoWithoutStepsAreBuckets) {
  const auto severity = [](std::vector<int64_t> sizes) {
    RecompileRun run;
    BatchesOf(run, sizes, {.dur_ns = 2'000'000'000});
    run.Exec("DELETE FROM step; UPDATE compile SET step_id = NULL; DELETE FROM execution");
    return run.TheFinding().severity;
  };
  EXPECT_EQ(severity({32, 64, 128, 256, 512}), Severity::kInfo);
  EXPECT_EQ(severity({32, 64, 128, 256, 500}), Severity::kWarning);
}

TEST(RecompilationSeverity, WarmUpDoesNotCountWhereTheStateIsUnknown) {
  RecompileRun run;
  const auto graph = [&](const std::string& hash) { return run.Graph(hash, {}, {}); };
  const int64_t usual = graph("c");
  run.Step(graph("a")), run.Step(graph("b")), run.Steps(usual, 190), run.Step(graph("d"));
  run.Steps(usual, 12);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.count, 3);
  EXPECT_EQ(finding.reason->state, State::kUnknown);
  EXPECT_EQ(finding.severity, Severity::kInfo);
}

// A number without a type makes a weakly typed state, which the first step replaces by a strong one.
TEST(RecompilationSeverity, AWeakTypeIsAvoidableInTheFirstSteps) {
  for (const bool is_dear : {true, false}) {
    RecompileRun run;
    const auto step = [](bool weak) {
      return TestNodes{{.op = "parameter",
                        .shape = "f32[]",
                        .attributes = weak ? "weak_type=True" : "weak_type=False"}};
    };
    const How call{.cause = CutKind::kCall, .function = "step", .dur_ns = 3'000'000'000};
    run.Step(run.Graph("a", step(true), PrintedForm::kSignature), call);
    run.Steps(run.Graph("b", step(false), PrintedForm::kSignature), 30, call);
    run.Exec(
        fmt::format("UPDATE compile SET ts_ns = ordinal * 1000000000;"
                    "UPDATE step SET ts_ns = {} * ordinal, dur_ns = 1000000",
                    is_dear ? 300'000'000 : 3'000'000'000));
    const Finding finding = run.TheFinding();
    EXPECT_EQ(finding.reason->state, State::kWarmUp);
    EXPECT_EQ(finding.severity, is_dear ? Severity::kWarning : Severity::kInfo);
    EXPECT_TRUE(finding.words.advice.find("weak type") != std::string::npos);
  }
}

}  // namespace
}  // namespace xlaprof
