// Tests programs of single operations, which JAX makes outside of jit.
#include <gmock/gmock.h>

#include "analyzers/recompilation.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer recompilation;

namespace {

using testing::ElementsAre;
using testing::Pair;

OutsideJitFigures OutsideFiguresOf(const Finding& finding) {
  const auto* figures = std::any_cast<OutsideJitFigures>(&finding.figures);
  EXPECT_NE(figures, nullptr);
  return figures == nullptr ? OutsideJitFigures() : *figures;
}

// Returns the recompiled function, or "" for other findings.
std::string FunctionOf(const Finding& finding) {
  const auto* figures = std::any_cast<RecompileFigures>(&finding.figures);
  return figures == nullptr ? "" : figures->site.function;
}

class OutsideJit : public testing::Test {
 protected:
  void Compile(const std::string& function, int64_t count, int64_t ms,
               const std::string& cause = "call", int site = 0) {
    for (int64_t i = 0; i < count; ++i) {
      run_.Exec(fmt::format(
          "INSERT INTO compile (process_id, ordinal, dur_ns, dur_from, cause, function, "
          "site_id, inferred) VALUES (1, {}, {}, 'log', '{}', '{}', nullif({}, 0), 0)",
          ordinal_++, ms * 1'000'000, cause, function, site));
    }
  }
  Findings Run() { return run_.Run(recompilation); }
  TimedRun run_;
  int64_t ordinal_ = 0;
};

TEST_F(OutsideJit, AreOneFindingAtTheDearestLine) {
  run_.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, 'init', '/u/model.py', 8), (2, 'fit', '/u/fit.py', 40);");
  Compile("my_step", 2, 3000);
  Compile("broadcast_in_dim", 9, 20, "operation", 1);
  Compile("scan", 2, 3000, "operation", 2);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 2u);  // the other is my_step, which compiled twice
  const Finding& finding = found[1];
  const OutsideJitFigures figures = OutsideFiguresOf(finding);
  EXPECT_EQ(finding.count, 11);
  EXPECT_FALSE(figures.at_start);
  EXPECT_THAT(figures.loops.most, ElementsAre(Pair("scan", 2)));
  EXPECT_EQ(figures.loop_programs, 2);
  EXPECT_THAT(figures.operations.most, ElementsAre(Pair("broadcast_in_dim", 9)));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.reason->type, ReasonType::kOutsideJit);
  EXPECT_EQ(finding.cost_ns, 6'180'000'000);
  EXPECT_EQ(finding.subject.file, "/u/fit.py");
  EXPECT_EQ(finding.subject.line, 40);
  ASSERT_EQ(figures.lines.size(), 2u);
  EXPECT_EQ(figures.lines[0].place.text(), "/u/fit.py:40");
  EXPECT_EQ(figures.lines[0].count, 2);
  EXPECT_EQ(figures.lines[0].ns, 6'000'000'000);
  EXPECT_EQ(figures.lines[1].place.text(), "/u/model.py:8");
  EXPECT_EQ(figures.lines[1].count, 9);
  EXPECT_EQ(figures.lines[1].ns, 180'000'000);
  EXPECT_EQ(finding.evidence.size(), 2u);
}

// Regression: a line that repeats was named before the line that takes most of the time.
TEST_F(OutsideJit, LinesAreOrderedByTime) {
  run_.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, 'fit', '/u/fit.py', 8), (2, 'fit', '/u/fit.py', 40);");
  Compile("broadcast_in_dim", 12, 20, "operation", 1);
  Compile("dot_general", 1, 4000, "operation", 2);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].subject.line, 40);
  EXPECT_THAT(OutsideFiguresOf(found[0]).operations.most,
              ElementsAre(Pair("dot_general", 1), Pair("broadcast_in_dim", 12)));
}

// A loop that one line compiles again and again is a recompilation, whatever else is outside of jit.
TEST_F(OutsideJit, ALoopThatRepeatsHasItsOwnReason) {
  run_.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, 'fit', '/u/fit.py', 8), (2, 'fit', '/u/fit.py', 40);"
      "INSERT INTO graph (id, process_id, name, node_count, input_count, printed_as) VALUES (1, 1, 'scan', 1, 1, 'signature');"
      "INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES (1, 0, 'parameter', 'f32[8]', '')");
  Compile("broadcast_in_dim", 10, 20, "operation", 1);
  Compile("scan", 3, 2000, "operation", 2);
  run_.Exec("UPDATE compile SET graph_id = 1 WHERE function = 'scan'");
  const Findings found = Run();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(FunctionOf(found[0]), "scan");
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].subject.line, 40);
  EXPECT_EQ(found[0].reason->type, ReasonType::kRedefinedFunction);
  EXPECT_EQ(OutsideFiguresOf(found[1]).loop_programs, 0);
}

// Regression: the user was told to pad what JAX moves to another sharding.
TEST_F(OutsideJit, AFewReshardingsAreNoRecompilation) {
  Compile("_identity_fn", 4, 500);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(OutsideFiguresOf(found[0]).all_resharding);
  EXPECT_THAT(OutsideFiguresOf(found[0]).operations.most, ElementsAre(Pair("device_put", 4)));
}

// An XLA dump has no times.
TEST_F(OutsideJit, MostProgramsAreAWarningWithoutTimes) {
  Compile("broadcast_in_dim", policy::kManyUnpricedOperations, 0, "operation");
  run_.Exec("UPDATE compile SET dur_ns = NULL, dur_from = NULL");
  EXPECT_EQ(Run().front().severity, Severity::kWarning);
  run_.Exec("DELETE FROM compile WHERE id = 1");
  EXPECT_EQ(Run().front().severity, Severity::kInfo);
}

// Regression: clean programs got a warning about the operations that make their parameters.
TEST_F(OutsideJit, AStartIsNoWarning) {
  Compile("broadcast_in_dim", 20, 1000, "operation");
  Compile("my_step", 1, 3000);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_TRUE(OutsideFiguresOf(found[0]).at_start);
}

// The user has a function with the name of an operation.
TEST_F(OutsideJit, WhatJaxExplainsOrHasSeveralLinesIsAFunction) {
  run_.Exec("INSERT INTO stack (id, hash) VALUES (1, 'h')");
  Compile("select", 12, 500);
  run_.Exec("UPDATE compile SET stack_id = 1");
  Compile("broadcast_in_dim", 12, 10);
  Findings found = Run();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(FunctionOf(found[0]), "select");
  EXPECT_EQ(found[0].count, 11);
  run_.Exec(
      "UPDATE compile SET stack_id = NULL; INSERT INTO graph (id, process_id, printed_as, "
      "node_count) VALUES (1, 1, 'hlo', 2); INSERT INTO graph_node (graph_id, idx, op, shape, "
      "operands, location) VALUES (1, 0, 'dot', 'f32[]', '', 'f@a.py:1'), (1, 1, 'add', 'f32[]', "
      "'', 'f@a.py:2'); UPDATE compile SET graph_id = 1 WHERE function = 'select'");
  found = Run();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(FunctionOf(found[0]), "select");
  EXPECT_EQ(found[0].count, 11);
}

TEST_F(OutsideJit, AreKnownByTheirNames) {
  Compile("jit(convert_element_type)", 5, 100);
  Compile("jit(broadcast_in_dim)", 5, 100);
  Compile("add", 5, 100);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 15);
  EXPECT_FALSE(OutsideFiguresOf(found[0]).explained);
  EXPECT_TRUE(OutsideFiguresOf(found[0]).lines.empty());
}

// A plain word such as add may also be a user's function, so alone it is treated as one.
TEST_F(OutsideJit, AWordIsNoOperationByItself) {
  Compile("add", 12, 100);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(FunctionOf(found[0]), "add");
  EXPECT_EQ(found[0].count, 11);
}

TEST_F(OutsideJit, AFewAreRecompilationsLikeOthers) {
  Compile("broadcast_in_dim", 9, 100);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(FunctionOf(found[0]), "broadcast_in_dim");
  EXPECT_EQ(found[0].count, 8);
}

TEST_F(OutsideJit, CheapOnesAreNoWarning) {
  Compile("broadcast_in_dim", 20, 10);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
}

// If no steps are known, recompilations are judged by their share of all compile time.
TEST_F(OutsideJit, TwoDearRecompilationsAreAWarning) {
  Compile("step", 3, 60'000);
  Compile("other", 6, 1);
  const Findings found = Run();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[1].severity, Severity::kInfo);
}

}  // namespace
}  // namespace xlaprof
