// Tests slow_compile from XLA's own alarms.
#include <gmock/gmock.h>

#include "analyzers/slow_compile.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer slow_compile;

namespace {

const SlowCompileAlarms& FiguresOf(const Finding& finding) {
  return std::get<SlowCompileAlarms>(std::any_cast<const SlowCompileFigures&>(finding.figures));
}

TEST(CompileAlarms, ConstantsAreOneFindingAtTheirLine) {
  TimedRun run;
  run.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, NULL, '/x/f.py', 13);"
      "INSERT INTO compile_alarm (id, process_id, ordinal, operation, subject, op, shape, scope, site_id, least_ns, dur_ns, text) VALUES"
      " (1, 1, 0, 'constant_folding', 'slice.2', 'slice', NULL, NULL, NULL, 2000000000, NULL, ''),"
      " (2, 1, 1, 'constant_folding', 'reduce.8', 'reduce', 'f32[9,2]{1,0}', 'jit(f)', 1, "
      "1000000000, 7000000000, 'reduce.8 = …')");
  const Findings found = run.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].words.title,
            "XLA spent over 9 s of compile time folding constants, most for reduce f32[9,2]");
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.file, "/x/f.py");
  EXPECT_EQ(found[0].subject.line, 13);
  EXPECT_EQ(found[0].cost_ns, 9'000'000'000);
  EXPECT_FALSE(FiguresOf(found[0]).alarms.ended);
  EXPECT_EQ(found[0].reason->type, ReasonType::kConstantFolding);
  EXPECT_EQ(FiguresOf(found[0]).alarms.kind, AlarmKind::kConstantFolding);
  EXPECT_EQ(FiguresOf(found[0]).alarms.all[0].subject.place().text(), "/x/f.py:13");
}

TEST(CompileAlarms, LongWaitsAreWarnings) {
  TimedRun run;
  run.Exec(
      "INSERT INTO compile_alarm (id, process_id, ordinal, operation, subject, op, shape, scope, site_id, least_ns, dur_ns, text) VALUES (1, 1, 0, 'autotuning', 'eng1', NULL, NULL, NULL, NULL, "
      "NULL, 30000000000, '')");
  const Findings found = run.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].words.title, "XLA spent 30 s of one compilation tuning kernels (eng1)");
}

// This XLA's limit is ten seconds, and the program is not at fault: the finding must mention
// neither two minutes nor a smaller graph.
TEST(CompileAlarms, AnXlaWithoutOptimizationIsOneFinding) {
  TimedRun run;
  run.Exec(
      "INSERT INTO compile_alarm (id, process_id, ordinal, operation, subject, op, shape, scope, site_id, least_ns, dur_ns, text) VALUES"
      " (1, 1, 0, 'unoptimized_compile', NULL, NULL, NULL, NULL, NULL, 10000000000, NULL, ''),"
      " (2, 1, 1, 'unoptimized_compile', 'jit_f', NULL, NULL, NULL, NULL, 10000000000, "
      "30000000000, '')");
  const Findings found = run.Run(slow_compile);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].words.title,
            "XLA is a build without optimization: 2 compilations took over 40 s, the longest of "
            "jit_f 30 s");
  EXPECT_EQ(found[0].reason->type, ReasonType::kUnoptimizedBuild);
  EXPECT_EQ(FiguresOf(found[0]).alarms.kind, AlarmKind::kUnoptimizedCompile);
}

// A graph of one operation cannot be made smaller.
TEST(CompileAlarms, ProgramsOfOneOperationAreTheMachinesMatter) {
  for (auto [name, operation] : {std::pair("primitive_computation_anything", "anything"),
                                 std::pair("jit_convert_element_type", "convert_element_type"),
                                 std::pair("jit__threefry_split", "threefry_split")}) {
    TimedRun run;
    run.Exec(fmt::format(
        "INSERT INTO compile_alarm (id, process_id, ordinal, operation, subject, op, shape, scope, site_id, least_ns, dur_ns, text) VALUES (1, 1, 0, 'compile', '{}', NULL, NULL, "
        "NULL, NULL, 120000000000, NULL, '')",
        name));
    const Findings found = run.Run(slow_compile);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(FiguresOf(found[0]).jax_operation, operation) << name;
  }
  TimedRun run;
  run.Exec(
      "INSERT INTO compile_alarm (id, process_id, ordinal, operation, subject, op, shape, scope, site_id, least_ns, dur_ns, text) VALUES (1, 1, 0, 'compile', 'jit_train_step', NULL, NULL, NULL, "
      "NULL, 120000000000, NULL, '')");
  EXPECT_EQ(FiguresOf(run.Run(slow_compile).at(0)).jax_operation, "");
}

TEST(CompileAlarms, ShapesOfTuplesAreWholeOrLeftOut) {
  auto title = [](const std::string& shape) {
    TimedRun run;
    run.Exec(fmt::format(
        "INSERT INTO compile_alarm (id, process_id, ordinal, operation, subject, op, shape, scope, site_id, least_ns, dur_ns, text) VALUES (1, 1, 0, 'constant_folding', "
        "'fusion.5', 'fusion', '{}', NULL, NULL, 1000000000, NULL, '')",
        shape));
    return run.Run(slow_compile)[0].words.title;
  };
  const std::string before = "XLA spent over 1 s of one compilation folding constants ";
  EXPECT_EQ(title("(u32[8]{0}, s32[4,2]{1,0})"), before + "(fusion (u32[8], s32[4,2]))");
  std::string many = "(u32[8388608]{0}";
  for (int i = 0; i < 9; ++i) many += ", u32[8388608]{0}";
  EXPECT_EQ(title(many + ")"), before + "(fusion.5)");
}

TEST(CompileAlarms, EachModuleIsAFindingUnlessCompilationsTellTheirTimes) {
  constexpr const char* kAlarms =
      "INSERT INTO compile_alarm (id, process_id, ordinal, operation, subject, op, shape, scope, site_id, least_ns, dur_ns, text) VALUES"
      " (1, 1, 0, 'compile', 'jit_f', NULL, NULL, NULL, NULL, 120000000000, 130000000000, ''),"
      " (2, 1, 1, 'compile', 'jit_f', NULL, NULL, NULL, NULL, 120000000000, 150000000000, ''),"
      " (3, 1, 2, 'compile', NULL, NULL, NULL, NULL, NULL, 120000000000, NULL, '')";
  TimedRun run;
  run.Exec(kAlarms);
  const Findings found = run.Run(slow_compile);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].words.title, "the compilation took over 120 s");
  EXPECT_EQ(found[1].words.title, "2 compilations of jit_f took 280 s, the longest 150 s");
  EXPECT_EQ(found[1].subject.function, "jit_f");
  EXPECT_EQ(found[1].severity, Severity::kWarning);
  EXPECT_EQ(FiguresOf(found[1]).per_process, 2);

  // The same compilation in each of three ranks takes no longer.
  TimedRun ranks;
  for (int rank : {2, 3, 4}) {
    ranks.Exec(fmt::format(
        "INSERT INTO compile_alarm (id, process_id, ordinal, operation, subject, op, shape, scope, site_id, least_ns, dur_ns, text) VALUES ({0}, {0}, 0, 'compile', 'jit_f', NULL, NULL, NULL, "
        "NULL, 120000000000, 13{0}000000000, '')",
        rank));
  }
  const Findings side_by_side = ranks.Run(slow_compile);
  ASSERT_EQ(side_by_side.size(), 1u);
  EXPECT_EQ(side_by_side[0].words.title, "the compilation of jit_f took 134 s, in 3 processes");
  EXPECT_EQ(side_by_side[0].cost_ns, 134'000'000'000);
  EXPECT_EQ(FiguresOf(side_by_side[0]).per_process, 1);
  EXPECT_EQ(side_by_side[0].words.why, "");

  TimedRun timed;
  timed.Exec(kAlarms);
  timed.Exec(
      "INSERT INTO compile (id, process_id, ordinal, function, dur_ns, inferred) VALUES "
      "(1, 1, 0, 'f', 130000000000, 0)");
  // The compilation that did not end is also reported; its module is unknown.
  std::vector<std::string> titles;
  for (const Finding& finding : timed.Run(slow_compile)) titles.push_back(finding.words.title);
  EXPECT_THAT(titles, testing::UnorderedElementsAre("the compilation took over 120 s",
                                                    "compiling took 130 s"));
}

}  // namespace
}  // namespace xlaprof
