// Tests sync_point, fallback, graph_fragmentation, missing_step_mark and incomplete_capture on
// stores made by hand.
#include "analyzers/run/early_cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/analyzer.h"
#include "analyzers/fallback.h"
#include "analyzers/run/source_lines.h"
#include "analyzers/sync_point.h"

namespace xlaprof {

extern const Analyzer sync_point, fallback, graph_fragmentation, missing_step_mark,
    incomplete_capture;

namespace {

// A run of steps with the same executions in each, written row by row.
class Recorded {
 public:
  Recorded() {
    Exec(
        "INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'r', NULL, 1, ''); INSERT INTO source (id, path, imported) "
        "VALUES (1, 's', 1);"
        "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, 1, 1, 0, NULL, NULL, NULL, NULL);");
  }
  void Exec(const std::string& sql) {
    absl::Status status = store_->Exec(sql);
    ASSERT_TRUE(status.ok()) << status;
  }
  // Adds a graph whose only result has `shape`.
  void Graph(int id, const std::string& hash, const std::string& shape, int nodes = 10) {
    Exec(fmt::format(
        "INSERT INTO graph (id, process_id, hash, name, program_id, node_count, input_count, output_count, printed_as) VALUES ({0}, 1, '{1}', NULL, NULL, {3}, 2, 1, 'ir_text');"
        "INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, scope, location, root, name, computation) VALUES ({0}, 0, 'aten::lt', '{2}', '', NULL, NULL, "
        "NULL, 0, NULL, NULL);",
        id, hash, shape, nodes));
  }
  void Step() {
    Exec(fmt::format(
        "INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES ({}, 1, {}, NULL, NULL, NULL, NULL)",
        step_ + 1, step_));
    ++step_;
  }
  void Execute(int graph, const std::string& cause, int line, const std::string& wait_ns = "NULL") {
    Exec(fmt::format(
        "INSERT OR IGNORE INTO site (id, function, file, line) VALUES ({0}, 'body', '/home/u/train.py', {0})",
        line));
    Exec(fmt::format(
        "INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id, "
        "host_wait_ns) VALUES (1, {}, {}, '{}', {}, {}, {})",
        ordinal_++, graph, cause, line, step_ == 0 ? "NULL" : fmt::to_string(step_), wait_ns));
  }
  void Fallback(const std::string& op, int count) {
    Exec(fmt::format("INSERT INTO fallback (process_id, op, count) VALUES (1, '{}', {})", op,
                     count));
  }
  void Metrics(const std::string& metrics, const std::string& mark_step) {
    Exec(fmt::format(
        "INSERT INTO metrics_report (id, source_id, process_id, ordinal, save_number, mark_step) VALUES (1, 1, 1, 0, NULL, {}); {}",
        mark_step, metrics));
  }
  void Restrict(const Slice& slice) {
    absl::Status status = store_->Restrict(slice);
    ASSERT_TRUE(status.ok()) << status;
  }
  Findings Find(const Analyzer& analyzer, SourceLines lines = {}) {
    xlaprof::Run run(*store_);
    run.Set(std::move(lines));
    auto findings = Analyze(run, analyzer);
    EXPECT_TRUE(findings.ok()) << findings.status();
    return findings.ok() ? *findings : Findings();
  }
  std::vector<Finding> Warnings(const Analyzer& analyzer) {
    Findings all = Find(analyzer);
    std::erase_if(all, [](const Finding& f) { return f.severity == Severity::kInfo; });
    return all;
  }

 private:
  absl::StatusOr<Store> store_ = Store::CreateTemporary();
  int step_ = 0, ordinal_ = 0;
};

const FallbackOpFigures& OpFigures(const Finding& finding) {
  return std::get<FallbackOpFigures>(std::any_cast<const FallbackFigures&>(finding.figures));
}
const UnnamedCallsFigures& UnnamedFigures(const Finding& finding) {
  return std::get<UnnamedCallsFigures>(std::any_cast<const FallbackFigures&>(finding.figures));
}

std::vector<int64_t> CandidateLines(const Finding& finding) {
  std::vector<int64_t> lines;
  for (const Subject& candidate : OpFigures(finding).candidates) {
    EXPECT_EQ(candidate.file, "/home/u/train.py");
    lines.push_back(candidate.line.value_or(0));
  }
  return lines;
}

// Records steps that call an op without lowering at line 10 and read a number at line 13.
Recorded NonzeroAndItem(int steps) {
  Recorded run;
  run.Graph(1, "aa", "pred[32]{0}");
  run.Graph(2, "bb", "f32[]");
  run.Graph(3, "cc", "f32[10]{0}");
  for (int i = 0; i < steps; ++i) {
    run.Step();
    run.Execute(1, "value_access", 10, "2000");
    run.Execute(2, "value_access", 13, "3000");
    run.Execute(3, "step_trace_exit", 5);
  }
  return run;
}

TEST(EarlyCut, EmptyStoreHasNoFindings) {
  Recorded run;
  for (const Analyzer* analyzer :
       {&sync_point, &fallback, &graph_fragmentation, &missing_step_mark, &incomplete_capture}) {
    EXPECT_TRUE(run.Find(*analyzer).empty()) << analyzer->name;
  }
}

TEST(EarlyCut, AnOpAndAReadAreToldApartByWhatTheyFetch) {
  Recorded run = NonzeroAndItem(12);
  run.Fallback("aten::nonzero", 12);
  run.Fallback("aten::_local_scalar_dense", 12);
  Findings reads = run.Warnings(sync_point);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].subject.line, 13);
  EXPECT_EQ(reads[0].count, 12);
  EXPECT_EQ(reads[0].cost_ns, 36'000);
  Findings ops = run.Warnings(fallback);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].subject.op, "aten::nonzero");
  EXPECT_EQ(ops[0].subject.line, 10);
  EXPECT_EQ(ops[0].count, 12);
  EXPECT_EQ(ops[0].per_step, 1.0);
  EXPECT_EQ(ops[0].cost_ns, 24'000);
  EXPECT_FALSE(OpFigures(ops[0]).is_printed);
  EXPECT_EQ(OpFigures(ops[0]).cost, FallbackOpFigures::Cost::kWaits);
  EXPECT_EQ(OpFigures(ops[0]).measured, 12);
  ASSERT_TRUE(OpFigures(ops[0]).cut);
  EXPECT_EQ(OpFigures(ops[0]).cut->executions, 12);
  EXPECT_EQ(OpFigures(ops[0]).cut->shape->text(), "pred[32]");
}

// Counters are for the whole run. Regression: in a slice, the op was reported as a read, with a
// read's remedy.
TEST(EarlyCut, AnOpStaysAnOpInASliceOfSteps) {
  Recorded run = NonzeroAndItem(12);
  run.Fallback("aten::nonzero", 12);
  run.Restrict({.first_step = 3, .last_step = 5});
  Findings reads = run.Warnings(sync_point);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].subject.line, 13);
  Findings ops = run.Warnings(fallback);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].subject.op, "aten::nonzero");
  EXPECT_EQ(ops[0].subject.line, 10);
  EXPECT_EQ(ops[0].count, 3);
  EXPECT_EQ(ops[0].cost_ns, 6'000);
}

// Regression: each of many ops named each of many lines, so 8,000 of both took a gigabyte.
TEST(EarlyCut, OfManyLinesAFewAreNamed) {
  Recorded run;
  run.Graph(1, "aa", "pred[32]{0}");
  run.Step();
  for (int line = 1; line <= 20; ++line) run.Execute(1, "value_access", line);
  for (const char* op : {"aten::a", "aten::b"}) run.Fallback(op, 1);
  Findings ops = run.Find(fallback);
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_FALSE(OpFigures(ops[0]).cut);
  EXPECT_THAT(CandidateLines(ops[0]), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(OpFigures(ops[0]).more_candidates, 12);
}

// HLO prints the result of a read as a tuple of one.
TEST(EarlyCut, ATupleOfOneScalarIsAScalar) {
  Recorded run;
  run.Graph(1, "aa", "(f32[])");
  for (int i = 0; i < 4; ++i) run.Step(), run.Execute(1, "value_access", 10);
  run.Fallback("aten::nonzero", 4);
  Findings reads = run.Find(sync_point);
  ASSERT_EQ(reads.size(), 1u);
  const auto& read =
      std::get<EarlyReadFigures>(std::any_cast<const SyncPointFigures&>(reads[0].figures));
  EXPECT_EQ(read.value, ReadValue::kNumber);
  EXPECT_EQ(read.shape->text(), "f32[]");
}

TEST(EarlyCut, ManyInputsOfOneLineMayBeTheRoundsOfALoop) {
  const auto rounds = [](int inputs) {
    Recorded run;
    run.Graph(1, "aa", "f32[]");
    for (int i = 0; i < inputs; ++i) {
      run.Exec(fmt::format(
          "INSERT INTO graph_node (graph_id, idx, op, shape, operands, location) VALUES "
          "(1, {}, 'xla::device_data', 'f32[32,3]{{1,0}}', '', 'run@evaluate.py:17')",
          100 + i));
    }
    for (int i = 0; i < 4; ++i) run.Step(), run.Execute(1, "value_access", 10);
    const Findings reads = run.Find(sync_point);
    return std::get<EarlyReadFigures>(std::any_cast<const SyncPointFigures&>(reads[0].figures))
        .rounds;
  };
  EXPECT_FALSE(rounds(int(policy::kInputsOfRounds) - 1));
  const auto eight = rounds(int(policy::kInputsOfRounds));
  ASSERT_TRUE(eight);
  EXPECT_EQ(eight->count, 8);
  EXPECT_EQ(eight->shape.text(), "f32[32,3]");
  EXPECT_EQ(eight->place.line, 17);
}

TEST(EarlyCut, WithoutCountersEveryLineIsARead) {
  Findings reads = NonzeroAndItem(12).Warnings(sync_point);
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0].subject.line, 10);
  EXPECT_EQ(reads[1].subject.line, 13);
}

TEST(EarlyCut, TwoOpsAndTwoLinesOfTheSameCountAreNotGuessed) {
  Recorded run;
  run.Graph(1, "aa", "pred[32]{0}");
  for (int i = 0; i < 5; ++i) {
    run.Step();
    run.Execute(1, "value_access", 10);
    run.Execute(1, "value_access", 11);
  }
  run.Fallback("aten::nonzero", 5);
  run.Fallback("aten::histc", 5);
  Findings ops = run.Find(fallback);
  ASSERT_EQ(ops.size(), 2u);
  for (const Finding& op : ops) {
    EXPECT_FALSE(op.subject.line.has_value());
    EXPECT_THAT(CandidateLines(op), testing::ElementsAre(10, 11));
    EXPECT_EQ(OpFigures(op).more_candidates, 0);
  }
}

// Lets a rule read the lines of one file.
SourceLines Lines(std::map<int64_t, std::string> lines) {
  return {[lines](const SourcePlace& place) -> std::optional<std::string> {
    const auto line = lines.find(place.line.value_or(0));
    return line == lines.end() ? std::nullopt : std::optional(line->second);
  }};
}

TEST(EarlyCut, AnOpCutsAtTheLineThatCallsIt) {
  Recorded run;
  run.Graph(1, "aa", "f32[32]{0}");
  for (int i = 0; i < 5; ++i) {
    run.Step();
    run.Execute(1, "value_access", 10, "1000");
    run.Execute(1, "value_access", 11, "2000");
  }
  run.Fallback("aten::linalg_eig", 5);
  run.Fallback("aten::histc", 5);
  const SourceLines lines = Lines({{10, "torch.histc(x)"}, {11, "y = torch.linalg.eigvals(x)"}});
  const Findings ops = run.Find(fallback, lines);
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].subject.op, "aten::histc");
  EXPECT_EQ(ops[0].subject.line, 10);
  EXPECT_EQ(ops[0].cost_ns, 5'000);
  EXPECT_EQ(ops[1].subject.line, 11);
  EXPECT_EQ(ops[1].cost_ns, 10'000);
  EXPECT_TRUE(run.Find(sync_point, lines).empty());
  // Without the source, the counts show that the reads are the ops', but not whose.
  for (const Finding& read : run.Find(sync_point)) EXPECT_EQ(read.severity, Severity::kInfo);
  EXPECT_EQ(run.Find(sync_point).size(), 2u);
}

// Regression: each of the lines was a warning of its own, and a line that was read once was named.
TEST(EarlyCut, AnOpMayCutAtSeveralLines) {
  Recorded run;
  run.Graph(1, "aa", "pred[16,32]{1,0}");
  for (int i = 0; i < 40; ++i) {
    run.Step();
    for (const int line : {25, 26}) run.Execute(1, "value_access", line, "1000");
  }
  run.Execute(1, "value_access", 44);
  run.Fallback("aten::nonzero", 120);
  const SourceLines lines = Lines({{25, "picked = logits[mask]"}, {26, "target = ids[mask]"}});
  const Findings ops = run.Find(fallback, lines);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].subject.line, 25);
  EXPECT_EQ(ops[0].per_step, 3.0);
  EXPECT_EQ(ops[0].cost_ns, 80'000);
  EXPECT_EQ(OpFigures(ops[0]).cut->executions, 80);
  ASSERT_EQ(OpFigures(ops[0]).call_sites.size(), 2u);
  EXPECT_EQ(OpFigures(ops[0]).call_sites[1].line, 26);
  EXPECT_THAT(CandidateLines(run.Find(fallback)[0]), testing::ElementsAre(25, 26));
}

// Regression: what a profile measured of a few executions was given as the cost of all.
TEST(EarlyCut, CostsAreThoseOfTheWholeRun) {
  const auto read_of = [](int measured) {
    Recorded run;
    run.Graph(1, "aa", "f32[]");
    for (int i = 0; i < 100; ++i) {
      run.Step();
      run.Execute(1, "value_access", 13, i < measured ? i == 0 ? "9000000" : "2000000" : "NULL");
      run.Execute(1, "user_sync", 5);
    }
    run.Metrics(
        "INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, 'TransferFromDeviceTime', 'ns', 100, 150e6, NULL, NULL, '');",
        "100");
    run.Exec("UPDATE execution SET ts_ns = 10000000 * ordinal WHERE host_wait_ns IS NOT NULL");
    run.Exec(
        "INSERT INTO observed_process (process_id, command, ts_ns, dur_ns, ended) VALUES (1, 'python', 0, 9000000000, 1)");
    const Findings reads = run.Find(sync_point);
    EXPECT_EQ(reads.size(), 1u);
    return reads.at(0);
  };
  const Finding all = read_of(100);
  EXPECT_EQ(all.cost_ns, 9'000'000 + 99 * 2'000'000);
  EXPECT_EQ(all.certainty, Certainty::kMeasured);
  // The longest read is no rate, and all reads together take no longer than the metrics say.
  const Finding some = read_of(10);
  EXPECT_EQ(some.cost_ns, 150'000'000);
  EXPECT_EQ(some.certainty, Certainty::kInferred);
  ASSERT_TRUE(some.cost_interval_ns);
  EXPECT_EQ(read_of(1).cost_ns, 9'000'000) << "one read shows no rate";
}

TEST(EarlyCut, UnmeasuredExecutionsTakeTheMeanWithoutTheLongest) {
  MeasuredTimes times;
  for (const int64_t ns : {90, 20, 40}) times.Add(ns);
  EXPECT_EQ(times.OfAll(10), 150 + 7 * 30);
  EXPECT_EQ(times.OfAll(3), std::nullopt);
  MeasuredTimes one;
  one.Add(90);
  EXPECT_EQ(one.OfAll(10), std::nullopt);
}

// Regression: the first step had no read, so 159 reads in 160 steps were only mentioned.
TEST(SyncPoint, AReadInNearlyEveryStepIsInEveryStep) {
  for (const auto& [reads, expected] :
       {std::pair(99, Severity::kWarning), std::pair(89, Severity::kInfo)}) {
    Recorded run;
    run.Graph(1, "aa", "pred[]");
    for (int i = 0; i < 100; ++i) {
      run.Step();
      if (i < reads) run.Execute(1, "value_access", 13, "1000");
      run.Execute(1, "user_sync", 5);
    }
    run.Exec(
        "INSERT INTO observed_process (process_id, command, ts_ns, dur_ns, ended) VALUES (1, 'python', 0, 9000000000, 1)");
    const Findings found = run.Find(sync_point);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, expected) << reads;
  }
}

TEST(SyncPoint, ARareReadIsOnlyMentioned) {
  for (auto [steps, expected] :
       {std::pair(20, Severity::kWarning), std::pair(21, Severity::kInfo)}) {
    Recorded run;
    run.Graph(2, "bb", "f32[]");
    for (int i = 0; i < steps; ++i) {
      run.Step();
      run.Execute(2, "user_sync", 5);
      if (i == 3 || i == 9)
        run.Execute(2, "value_access", 13);  // 2 of 20 steps just fires, 2 of 21 just does not
    }
    Findings reads = run.Find(sync_point);
    ASSERT_EQ(reads.size(), 1u);
    EXPECT_EQ(reads[0].severity, expected) << steps;
  }
}

// Regression: a folder holds the logs of two programs, and only one of them reads in each of its
// steps.
TEST(SyncPoint, StepsAreThoseOfTheProcessThatReads) {
  Recorded run;
  run.Graph(2, "bb", "f32[]");
  for (int i = 0; i < 4; ++i) {
    run.Step();
    run.Execute(2, "value_access", 13);
    run.Execute(2, "user_sync", 5);
  }
  run.Exec(
      "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (2, 1, 1, 0, NULL, NULL, NULL, NULL)");
  for (int i = 0; i < 96; ++i)
    run.Exec(fmt::format("INSERT INTO step (process_id, ordinal) VALUES (2, {})", i));
  const Findings reads = run.Find(sync_point);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].per_step, 1);
  EXPECT_EQ(reads[0].severity, Severity::kWarning);
}

TEST(SyncPoint, FromOnePastedReport) {
  Recorded run;
  run.Metrics(
      "INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, 'TransferFromDeviceTime', 'ns', 100, 5e6, NULL, NULL, "
      "'005ms000.000us');",
      "100");
  run.Fallback("aten::_local_scalar_dense", 100);
  Findings reads = run.Find(sync_point);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].count, 100);
  EXPECT_EQ(reads[0].per_step, 1.0);
  EXPECT_EQ(reads[0].cost_ns, 5'000'000);
  EXPECT_EQ(reads[0].severity, Severity::kWarning);
  EXPECT_FALSE(reads[0].subject.line.has_value());
}

TEST(SyncPoint, TransfersThatOpsExplainAreNoReads) {
  Recorded run;
  run.Metrics(
      "INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, 'TransferFromDeviceTime', 'ns', 100, 5e6, NULL, NULL, "
      "'005ms000.000us');",
      "100");
  run.Fallback("aten::nonzero", 100);
  EXPECT_TRUE(run.Find(sync_point).empty());
}

TEST(Fallback, NamedByTorchXlaButNotCounted) {
  Recorded run;
  run.Exec(
      "INSERT INTO profiler_line (id, process_id, ordinal, rule, samples, steps, text) VALUES (1, 1, 0, 'not_lowered', NULL, NULL, 'pt-xla-profiler: "
      "Op(s) not lowered: aten::_ctc_loss, "
      "torchvision::nms,  Please open a GitHub issue with the above op lowering requests.')");
  Findings ops = run.Warnings(fallback);
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].subject.op, "aten::_ctc_loss");
  EXPECT_EQ(ops[1].subject.op, "torchvision::nms");
  EXPECT_FALSE(ops[0].count.has_value());
}

// Exit summaries of older versions count lines without naming an op.
TEST(Fallback, ALineWhoseOpIsNotNamed) {
  constexpr const char* kRows =
      "INSERT INTO site (id, function, file, line) VALUES (7, 'train', '/home/u/train.py', 7), (8, 'eval', "
      "'/home/u/train.py', 8);"
      "INSERT INTO stack (id, hash) VALUES (1, 'a'), (2, 'b');"
      "INSERT INTO fallback (id, process_id, ordinal, op, count, site_id, stack_id, step_id) VALUES (1, 1, NULL, NULL, 20, 7, 1, NULL), (2, 1, NULL, NULL, 1, 8, 2, "
      "NULL);";
  Recorded run;
  run.Exec(kRows);
  run.Fallback("aten::frobnicate", 20);
  const Findings found = run.Find(fallback);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].count, 20);
  EXPECT_EQ(found[1].severity, Severity::kWarning);
  EXPECT_EQ(found[1].subject.line, 7);
  EXPECT_EQ(found[1].subject.op, std::nullopt);
  EXPECT_THAT(UnnamedFigures(found[1]).possible_ops, testing::ElementsAre("aten::frobnicate"));
  EXPECT_FALSE(UnnamedFigures(found[1]).may_be_read);
  EXPECT_EQ(found[2].severity, Severity::kInfo);
  // Executions at the line contain more detail, and sync_point reports them.
  Recorded seen;
  seen.Exec(kRows);
  seen.Step(), seen.Execute(1, "value_access", 7);
  EXPECT_EQ(seen.Find(fallback).size(), 1u);
}

// print(tensor) selects elements by a mask: users should not rewrite that with torch.where.
TEST(Fallback, PrintingATensorIsNoMask) {
  constexpr const char* kRows =
      "INSERT INTO stack (id, hash) VALUES (1, 'a'), (2, 'b');"
      "INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES (1, 0, '__init__', '/v/site-packages/torch/_tensor_str.py', 90, 'torch'),"
      " (2, 0, 'loss', '/home/u/train.py', 9, 'user');"
      "INSERT INTO fallback (id, process_id, ordinal, op, count, site_id, stack_id, step_id) VALUES (1, 1, NULL, 'aten::masked_select', 10, NULL, 1, NULL);";
  Recorded run;
  run.Exec(kRows);
  const Findings printed = run.Find(fallback);
  ASSERT_EQ(printed.size(), 1u);
  EXPECT_TRUE(OpFigures(printed[0]).is_printed);
  // If the program also calls the op itself, that call has to change.
  Recorded both;
  both.Exec(
      std::string(kRows) +
      "INSERT INTO fallback (id, process_id, ordinal, op, count, site_id, stack_id, step_id) VALUES (2, 1, NULL, 'aten::masked_select', 10, NULL, 2, NULL);");
  const Findings called = both.Find(fallback);
  ASSERT_EQ(called.size(), 1u);
  EXPECT_FALSE(OpFigures(called[0]).is_printed);
}

TEST(GraphFragmentation, FiresFromTheFourthPieceOn) {
  for (auto [reads, expected] : {std::pair(3, 1u), std::pair(2, 0u)}) {
    Recorded run;
    run.Graph(1, "aa", "f32[]");
    for (int i = 0; i < 5; ++i) {
      run.Step();
      for (int k = 0; k < reads; ++k) run.Execute(1, "value_access", 9 + k);
      run.Execute(1, "step_trace_exit", 5);
    }
    Findings found = run.Warnings(graph_fragmentation);
    ASSERT_EQ(found.size(), expected) << reads;
    for (const Finding& finding : found) EXPECT_EQ(finding.per_step, 4.0);
  }
}

TEST(GraphFragmentation, FromMetrics) {
  for (auto [samples, expected] : {std::pair(40, 1u), std::pair(39, 0u)}) {
    Recorded run;
    run.Metrics(
        fmt::format(
            "INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, 'ExecuteTime', 'ns', {}, 5e6, NULL, "
            "NULL, '005ms000.000us');",
            samples),
        "10");
    EXPECT_EQ(run.Warnings(graph_fragmentation).size(), expected) << samples;
  }
}

TEST(MissingStepMark, FiresWhenTheGraphGrowsAndNothingCutsIt) {
  for (auto [last, expected] : {std::pair(15, 1u), std::pair(14, 0u)}) {
    Recorded run;
    run.Graph(1, "aa", "f32[]", 10);
    run.Graph(2, "bb", "f32[]", 12);
    run.Graph(3, "cc", "f32[]", last);
    for (int graph : {1, 2, 3}) run.Execute(graph, "value_access", 9);
    EXPECT_EQ(run.Warnings(missing_step_mark).size(), expected) << last;
  }
}

// Regression: a light recording has no nodes, so a loop without a mark was only mentioned.
TEST(MissingStepMark, FiresWhenTheInputsGrow) {
  for (const auto& [last, marks, expected] :
       {std::tuple(40, "NULL", 1u), std::tuple(36, "NULL", 0u), std::tuple(40, "9", 0u)}) {
    Recorded run;
    for (int i = 1; i <= 3; ++i) run.Graph(i, fmt::format("a{}", i), "f32[]");
    run.Exec("UPDATE graph SET node_count = NULL, printed_as = 'signature', input_count = 36");
    run.Exec(fmt::format("UPDATE graph SET input_count = {} WHERE id = 3", last));
    for (int graph : {1, 2, 3}) run.Execute(graph, "value_access", 9);
    run.Metrics(
        "INSERT INTO metric (id, report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES (1, 1, 'LazyTracing', 'ns', 5000, 5e6, NULL, NULL, '');"
        "INSERT INTO counter (report_id, name, value) VALUES (1, 'CreateDataHandles', 5)",
        marks);
    EXPECT_EQ(run.Warnings(missing_step_mark).size(), expected) << last << " " << marks;
  }
}

TEST(MissingStepMark, CostsWhatRunsAgain) {
  Recorded run;
  run.Graph(1, "aa", "f32[]", 10);
  run.Graph(2, "bb", "f32[]", 20);
  run.Graph(3, "cc", "f32[]", 40);
  for (int graph : {1, 2}) run.Execute(graph, "value_access", 9, "7000");
  run.Execute(3, "value_access", 12, "7000");
  EXPECT_EQ(run.Warnings(missing_step_mark)[0].subject.line, 9) << "most are there";
  // Half of the second graph was computed before, and three quarters of the third. The device's
  // time is used if it is known.
  EXPECT_EQ(run.Warnings(missing_step_mark)[0].cost_ns, 3500 + 5250);
  run.Exec("UPDATE execution SET dur_ns = 1000 WHERE ordinal > 0");
  EXPECT_EQ(run.Warnings(missing_step_mark)[0].cost_ns, 500 + 750);
  run.Exec("UPDATE execution SET dur_ns = NULL, host_wait_ns = NULL WHERE ordinal = 1");
  EXPECT_EQ(run.Warnings(missing_step_mark)[0].cost_ns, std::nullopt);
}

// Regression: a profile is shorter than a step, in which three lines read.
TEST(MissingStepMark, WithinOneStepReadsGrowToo) {
  Recorded run;
  for (int i = 1; i <= 3; ++i) {
    run.Graph(i, fmt::format("a{}", i), "f32[]", 10 * i);
    run.Execute(i, "value_access", i);
  }
  EXPECT_TRUE(run.Warnings(missing_step_mark).empty());
  ASSERT_EQ(run.Find(missing_step_mark).size(), 1u);
  EXPECT_EQ(run.Find(missing_step_mark)[0].cost_ns, std::nullopt);
  run.Step(), run.Step();
  EXPECT_EQ(run.Warnings(missing_step_mark).size(), 1u);
}

// Regression: a profile has no lines of reads, so three reads of one value might have been one step.
TEST(MissingStepMark, ReadsOfOneValueAreOfSeveralSteps) {
  Recorded run;
  for (int i = 1; i <= 3; ++i) {
    run.Graph(i, fmt::format("a{}", i), "f32[]", 10 * i);
    run.Execute(i, "value_access", i);
  }
  run.Exec("UPDATE execution SET site_id = NULL");
  EXPECT_TRUE(run.Warnings(missing_step_mark).empty());
  run.Exec("UPDATE graph_node SET location = 'loss@/home/u/train.py:7'");
  EXPECT_EQ(run.Warnings(missing_step_mark).size(), 1u);
}

TEST(SyncPoint, WithoutLinesTheValueTellsReadsApart) {
  Recorded run;
  run.Graph(1, "aa", "f32[]");
  run.Graph(2, "bb", "f32[]");
  run.Graph(3, "cc", "f32[10]{0}");
  for (int i = 0; i < 20; ++i) {
    run.Step();
    for (int graph : {1, 2}) run.Execute(graph, "value_access", 9);
    run.Execute(3, "step_trace_exit", 5);
  }
  run.Exec(
      "UPDATE execution SET site_id = NULL; UPDATE graph_node SET location = "
      "printf('loss@/home/u/train.py:%d', 10 * graph_id)");
  const Findings found = run.Find(sync_point);
  ASSERT_EQ(found.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[i].count, 20);
    EXPECT_FALSE(found[i].subject.file) << "the line of the read is not known";
    const auto& figures =
        std::get<EarlyReadFigures>(std::any_cast<const SyncPointFigures&>(found[i].figures));
    EXPECT_EQ(figures.value_place.line, 10 * int64_t(i + 1));
  }
}

// Regression: a step that replaced its tensor after a read had nothing left to execute at its end. The
// next step's graph is the same, and was taken for a repetition that cost a second.
TEST(SyncPoint, NothingRunsAgainIfTheStepEndedWithoutAGraph) {
  for (const bool ends_without : {false, true}) {
    Recorded run;
    run.Graph(1, "aa", "f32[8]{0}");
    for (int i = 0; i < 6; ++i) {
      run.Step();
      run.Execute(1, "value_access", 9, "5000000");
      if (ends_without) run.Step();
      run.Execute(1, "step_trace_exit", 5);
    }
    run.Exec("UPDATE execution SET dur_ns = 2000000");
    const Findings found = run.Find(sync_point);
    ASSERT_EQ(found.size(), 1u);
    const auto& figures =
        std::get<EarlyReadFigures>(std::any_cast<const SyncPointFigures&>(found[0].figures));
    EXPECT_EQ(figures.runs_nothing_again, ends_without);
    EXPECT_EQ(figures.again_ns, ends_without ? 0 : 6 * 2000000);
  }
}

TEST(MissingStepMark, OneStepMarkIsEnough) {
  Recorded run;
  run.Graph(1, "aa", "f32[]", 10);
  run.Graph(2, "bb", "f32[]", 30);
  for (int graph : {1, 1, 2}) run.Execute(graph, "value_access", 9);
  run.Execute(2, "user_sync", 5);
  EXPECT_TRUE(run.Find(missing_step_mark).empty());
}

TEST(IncompleteCapture, SaysWhatAMetricsReportLacks) {
  Recorded run;
  run.Metrics("", "10");
  Findings found = run.Find(incomplete_capture);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kNoLines);
}

TEST(IncompleteCapture, AWindowIsSaid) {
  Recorded run;
  run.Graph(1, "aa", "f32[]");
  for (int i = 0; i < 3; ++i) run.Execute(1, "user_sync", 5);
  run.Exec("UPDATE execution SET ts_ns = 5, dur_ns = 1 WHERE ordinal = 1");
  Findings found = run.Find(incomplete_capture);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kWindow);
  EXPECT_EQ(found[0].words.title, "the profile saw 1 of 3 executions");
}

}  // namespace
}  // namespace xlaprof
