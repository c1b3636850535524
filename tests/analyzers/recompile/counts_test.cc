#include "analyzers/recompile/counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

using ::testing::IsEmpty;

CountFigures FiguresOf(const Finding& finding) {
  const auto* figures = std::any_cast<CountFigures>(&finding.figures);
  EXPECT_NE(figures, nullptr);
  return figures == nullptr ? CountFigures() : *figures;
}
CountVerdict VerdictOf(const Finding& finding) { return FiguresOf(finding).verdict; }

class Reports : public RecompileRun {
 public:
  Reports() { Exec("INSERT INTO source (id, path, imported) VALUES (1, 'metrics.txt', 1)"); }
  void Report(int64_t steps, int64_t compiles, int64_t executions, double compile_ns = 1e9,
              double execute_ns = 1e12) {
    MetricsReportRow row{
        .source_id = 1, .process_id = process(), .ordinal = next_++, .mark_step = steps};
    const int64_t report = store().Add(row).value();
    EXPECT_TRUE(store()
                    .Add(MetricRow{.report_id = report,
                                   .name = "CompileTime",
                                   .unit = MetricUnit::kNs,
                                   .samples = compiles,
                                   .accumulator = compile_ns})
                    .ok());
    EXPECT_TRUE(store()
                    .Add(MetricRow{.report_id = report,
                                   .name = "ExecuteTime",
                                   .unit = MetricUnit::kNs,
                                   .samples = executions,
                                   .accumulator = execute_ns})
                    .ok());
  }
  // Adds a report that does not continue the one before it.
  void Apart(int64_t steps, int64_t compiles, int64_t uploads) {
    Report(steps, compiles, steps, double(compiles) * 1e9);
    Exec(
        "INSERT INTO metric (report_id, name, unit, samples, text) SELECT max(id), "
        "'TransferToDeviceTime', 'ns', " +
        std::to_string(uploads) + ", '' FROM metrics_report");
    if (next_ > 1) Issue("separate_reports");
  }
  void Issue(const std::string& code) {
    Exec("INSERT INTO import_issue (source_id, code, severity, count, advice) VALUES (1, '" + code +
         "', 'warning', 1, 'x') ON CONFLICT DO UPDATE SET count = count + 1");
  }
  void Line(int64_t samples, int64_t steps) {
    EXPECT_TRUE(store()
                    .Add(ProfilerLineRow{.process_id = process(),
                                         .ordinal = next_++,
                                         .rule = ProfilerRule::kCompileFrequent,
                                         .samples = samples,
                                         .steps = steps,
                                         .text = "x"})
                    .ok());
  }

 private:
  int64_t next_ = 0;
};

TEST(RecompileCounts, NothingToCountNoFinding) {
  Reports run;
  EXPECT_THAT(run.Find(), IsEmpty());
}

TEST(RecompileCounts, OneReportWithManyCompilesIsAWarningOfUnknownState) {
  Reports run;
  run.Report(14, 7, 14);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.reason->state, State::kUnknown);
  EXPECT_EQ(finding.count, 6);
  EXPECT_EQ(finding.cost_ns, 857142852);  // 6 of 7 compiles
  EXPECT_EQ(finding.evidence[0].table, "metrics_report");
}

// Regression: a profile saw one compile of a run whose reports count one every other step, and the
// run was called clean.
TEST(RecompileCounts, AProfilesWindowDoesNotHideWhatTheReportsCount) {
  Reports run;
  for (int step = 1; step <= 20; ++step) run.Report(step, 1 + step / 2, step);
  run.Exec(
      fmt::format("INSERT INTO compile (process_id, ordinal, ts_ns, dur_ns, inferred) VALUES "
                  "({}, 0, 0, 5, 0)",
                  run.process()));
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.reason->state, State::kOngoing);
  EXPECT_EQ(FiguresOf(finding).known_compiles, 1);
}

// Regression: a log had 11 of 15 compiles, each with its line. The others were of backward passes.
TEST(RecompileCounts, CompilesThatALogLacksAreNotJudgedIfItHasMost) {
  const auto judges_counts = [](int in_log) {
    Reports run;
    for (int step = 1; step <= 20; ++step) run.Report(step, 1 + step / 2, step);
    for (int i = 0; i < in_log; ++i)
      run.Exec(fmt::format(
          "INSERT INTO compile (process_id, ordinal, inferred) VALUES ({}, {}, 0)", run.process(), i));
    return std::ranges::any_of(run.Find(), [](const Finding& finding) {
      return finding.figures.type() == typeid(CountFigures);
    });
  };
  EXPECT_TRUE(judges_counts(1));
  EXPECT_FALSE(judges_counts(6));
}

TEST(RecompileCounts, WhatACleanProgramCompilesIsSaidToBeNone) {
  Reports clean;
  clean.Report(25, 3, 26);
  Reports cut;  // has four graphs per step, each compiled in the first two steps
  cut.Report(10, 9, 40);
  for (Reports* run : {&clean, &cut}) {
    const Finding finding = run->TheFinding();
    EXPECT_EQ(finding.severity, Severity::kInfo);
    EXPECT_EQ(VerdictOf(finding), CountVerdict::kClean);
  }
  Reports first;  // the first steps alone are not enough for a verdict
  first.Report(2, 2, 2);
  EXPECT_THAT(first.Find(), IsEmpty());
}

TEST(RecompileCounts, ACleanProgramThatCompilesLongIsToldSo) {
  Reports run;
  run.Report(25, 3, 26, 5e12, 1e12);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(VerdictOf(finding), CountVerdict::kClean);
}

// Regression: with met.clear_all() before each report, twelve steps that each compiled led to
// "nothing found".
TEST(RecompileCounts, ReportsOfOneProcessThatEachStandForThemselvesAreSummed) {
  Reports run;
  for (int i = 0; i < 12; ++i) run.Apart(1, 1, i == 0 ? 12 : 2);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kWarning);
  const CountFigures figures = FiguresOf(finding);
  EXPECT_EQ(figures.verdict, CountVerdict::kGoesOnInEachReport);
  EXPECT_EQ(figures.source.number, 12u);
  EXPECT_EQ(figures.signals.compiles, 12);
  EXPECT_EQ(figures.signals.steps, 12);
  EXPECT_EQ(finding.count, 11);
  EXPECT_EQ(finding.cost_ns, 11'000'000'000);
}

// Regression: with met.clear_metrics() at each step the counters go on, but they were summed (210
// compiles for 20).
TEST(RecompileCounts, CountersThatGoOnAreNotSummed) {
  Reports run;
  for (int64_t step = 1; step <= 20; ++step) {
    run.Apart(step, 1, step == 1 ? 60 : 2);
    run.Exec("INSERT INTO counter (report_id, name, value) SELECT max(id), 'UncachedCompile', " +
             std::to_string(step) + " FROM metrics_report");
  }
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(FiguresOf(finding).signals.compiles, 20);
  EXPECT_EQ(FiguresOf(finding).signals.steps, 20);
  EXPECT_EQ(finding.count, 19);
  EXPECT_EQ(finding.cost_ns, 19'000'000'000);
}

// Rank 0 of four also evaluates, and uploads twice as much.
TEST(RecompileCounts, AMasterAmongRanksIsNoProofOfOneProcess) {
  Reports run;
  for (int rank = 0; rank < 4; ++rank) run.Apart(20, 4, rank == 0 ? 900 : 400);
  EXPECT_EQ(run.TheFinding().severity, Severity::kInfo);
}

TEST(RecompileCounts, ReportsOfRanksAreNotSummed) {
  Reports clean;
  for (int i = 0; i < 8; ++i) clean.Apart(100, 3, 300);
  EXPECT_EQ(VerdictOf(clean.TheFinding()), CountVerdict::kClean);
  EXPECT_EQ(FiguresOf(clean.TheFinding()).signals.compiles, 3);
  EXPECT_EQ(FiguresOf(clean.TheFinding()).signals.steps, 100);
  Reports young;
  for (int i = 0; i < 8; ++i) young.Apart(1, 1, 12);
  const Finding finding = young.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(VerdictOf(finding), CountVerdict::kProcessesOrGoesOn);
  Reports compiling;
  for (int i = 0; i < 8; ++i) compiling.Apart(20, 15, 300);
  EXPECT_EQ(compiling.TheFinding().severity, Severity::kWarning);
  EXPECT_EQ(VerdictOf(compiling.TheFinding()), CountVerdict::kMoreThanClean);
  EXPECT_EQ(FiguresOf(compiling.TheFinding()).signals.compiles, 15);
  EXPECT_EQ(FiguresOf(compiling.TheFinding()).signals.steps, 20);
}

TEST(RecompileCounts, WhatStoodInAMissingPartIsNotDenied) {
  Reports run;
  run.Exec(
      "INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (7, 1, " +
      std::to_string(run.process()) + ", 0, 100)");
  run.Exec(
      "INSERT INTO counter (report_id, name, value) VALUES (7, 'UncachedCompile', 3), (7, "
      "'CachedCompile', 97)");
  EXPECT_EQ(VerdictOf(run.TheFinding()), CountVerdict::kClean);
  run.Issue("cut_file");
  const CountFigures figures = FiguresOf(run.TheFinding());
  EXPECT_EQ(figures.verdict, CountVerdict::kCleanByCounters);
  EXPECT_EQ(figures.signals.compiles, 3);
  EXPECT_TRUE(figures.signals.is_cut);
}

TEST(RecompileCounts, ASeriesIsJudgedByItsLastReport) {
  Reports ongoing, clean;
  for (int64_t i = 1; i <= 20; ++i) {
    ongoing.Report(i, 1 + i / 2, i);
    clean.Report(i, std::min<int64_t>(i, 2), i, 1e9, 1e10);
  }
  EXPECT_EQ(ongoing.TheFinding().reason->state, State::kOngoing);
  EXPECT_EQ(ongoing.TheFinding().severity, Severity::kWarning);
  EXPECT_EQ(FiguresOf(ongoing.TheFinding()).signals.between->before, 10);
  EXPECT_EQ(clean.TheFinding().severity, Severity::kInfo);
}

// Regression: an evaluation at the end compiled two graphs, which passed for recompilation that goes on.
TEST(RecompileCounts, TwoCompilesAtTheEndAreNoPattern) {
  Reports run;
  for (int64_t i = 1; i <= 100; ++i)
    run.Report(i, std::min<int64_t>(i, 2) + (i >= 98) + (i >= 99), i);
  for (const Finding& finding : run.Find()) EXPECT_EQ(finding.severity, Severity::kInfo);
}

// In https://github.com/pytorch/xla/issues/2783 there are 66 compiles for 66 executions, and no
// step mark in the pasted report.
TEST(RecompileCounts, WithoutStepMarksExecutionsCount) {
  Reports run;
  run.Report(0, 66, 66);
  run.Exec("UPDATE metrics_report SET mark_step = NULL");
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(VerdictOf(finding), CountVerdict::kMostExecutionsNew);
  EXPECT_EQ(FiguresOf(finding).signals.compiles, 66);
}

// In https://github.com/pytorch/xla/issues/3354 there are 11 compiles in 70 steps, and the
// executions are cut off. The cause was several graphs per step, not recompilation.
TEST(RecompileCounts, WithoutExecutionsFewCompilesMayBeTheGraphsOfAStep) {
  auto find = [](int64_t steps, int64_t compiles) {
    Reports run;
    run.Report(steps, compiles, 1, 300e9);
    run.Exec("DELETE FROM metric WHERE name = 'ExecuteTime'");
    return run.TheFinding();
  };
  const Finding finding = find(70, 11);
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.cost_ns, std::nullopt);
  EXPECT_EQ(VerdictOf(finding), CountVerdict::kExecutionsNotTold);
  EXPECT_EQ(find(54, 33).severity, Severity::kWarning);
  EXPECT_EQ(find(500, 60).severity, Severity::kWarning);
}

TEST(RecompileCounts, TorchXlasOwnLine) {
  Reports run;
  run.Line(429, 493);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.reason->state, State::kUnknown);
  EXPECT_EQ(FiguresOf(finding).source.kind, CountSource::Kind::kFrequentLines);
  EXPECT_EQ(FiguresOf(finding).signals.compiles, 429);
  EXPECT_EQ(FiguresOf(finding).signals.steps, 493);
}

// torch_xla repeats its line as long as the ratio since the start is high, even after compiling has
// stopped.
TEST(RecompileCounts, LinesThatGoOnAfterCompilingStopped) {
  Reports run;
  for (int64_t step = 11; step <= 60; ++step) run.Line(std::min<int64_t>(step, 31), step);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->state, State::kSettled);
  EXPECT_EQ(finding.reason->step, 31);
}

TEST(RecompileCounts, CompilesThatAreKnownOneByOneAreNotCountedAgain) {
  Reports run;
  run.Report(14, 1, 14);
  run.Steps(run.Graph("a", TrainStep(8)), 14);
  EXPECT_THAT(run.Find(), IsEmpty());
}

// A report is saved at each of 155 steps. Evaluations compile a few graphs until step 105.
TEST(RecompileCounts, WhatNoLaterReportCountsHasStopped) {
  for (const int64_t until : {105, 125}) {
    Reports run;
    for (int64_t step = 1; step <= 155; ++step) {
      const int64_t of_evaluations = 9 - std::clamp<int64_t>((until + 5 - step) / 5, 0, 9);
      run.Report(step, std::min<int64_t>(step, 2) + of_evaluations, step);
    }
    const Finding finding = run.TheFinding();
    EXPECT_EQ(finding.reason->state, until == 105 ? State::kSettled : State::kOngoing);
    EXPECT_EQ(finding.severity, until == 105 ? Severity::kInfo : Severity::kWarning);
  }
}

// Reports of Gaudi count no steps.
TEST(RecompileCounts, ReportsWithoutStepsTellWhetherItStopped) {
  for (const bool stops : {false, true}) {
    Reports run;
    for (int64_t i = 1; i <= 20; ++i) run.Report(0, stops ? std::min<int64_t>(i, 12) : i, 400);
    run.Exec("UPDATE metrics_report SET mark_step = NULL");
    const Finding finding = run.TheFinding();
    EXPECT_EQ(FiguresOf(finding).signals.quiet, stops);
    EXPECT_EQ(FiguresOf(finding).signals.rises, !stops);
    EXPECT_EQ(finding.severity, stops ? Severity::kInfo : Severity::kWarning);
  }
}

// The log has lost its beginning.
TEST(RecompileCounts, ALateLogThatSawNoRiseDoesNotSayThatItGoesOn) {
  Reports run;
  for (int64_t step = 51; step < 60; ++step) run.Line(33, step);
  EXPECT_EQ(run.TheFinding().reason->state, State::kUnknown);
}

}  // namespace
}  // namespace xlaprof
