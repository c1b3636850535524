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
