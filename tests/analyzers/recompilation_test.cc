#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Recompilation, AnEmptyStoreHasNone) {
  RecompileRun run;
  EXPECT_THAT(run.Find(), IsEmpty());
}

TEST(Recompilation, TheFirstCompileOfEachSiteIsNone) {
  RecompileRun run;
  const int64_t step = run.Graph("a", TrainStep(8)),
                read = run.Graph("b", {{.op = "aten::mean", .shape = "f32[]"}});
  for (int i = 0; i < 20; ++i) {
    run.Step(step);
    run.Execute(read, {.cause = CutKind::kValueAccess, .line = 22});
  }
  EXPECT_THAT(run.Find(), IsEmpty());
}

// Regression: a slice that begins with the run caused a warning whose remedy was to do nothing.
TEST(Recompilation, AWarmUpIsNoWarningInASlice) {
  RecompileRun run;
  const int64_t first = run.Graph("a", TrainStep(8)), second = run.Graph("b", TrainStep(9)),
                third = run.Graph("c", TrainStep(10));
  run.Step(first, {.dur_ns = 1'000'000'000});
  run.Step(second, {.dur_ns = 10'000'000'000});
  run.Steps(second, 5);
  run.Step(third);
  run.Exec("UPDATE compile SET ts_ns = ordinal * 1000000000");
  ASSERT_TRUE(run.store().Restrict({.first_step = 0, .last_step = 1}).ok());
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->state, State::kWarmUp);
  EXPECT_EQ(finding.severity, Severity::kInfo);
}

// Returns the state of five sizes that only a log shows, without steps. `progress` holds steps and
// compilations that `xlaprof run` counted.
Reason ReasonByProgress(const std::vector<std::pair<int64_t, int64_t>>& progress) {
  RecompileRun run;
  BatchesOf(run, {8, 9, 10, 11, 12}, {.cause = CutKind::kCall, .function = "train_step"});
  run.Exec("UPDATE compile SET step_id = NULL; DELETE FROM execution; DELETE FROM step");
  EXPECT_TRUE(run.store()
                  .Add(ObservedProcessRow{.process_id = run.process(),
                                          .command = "train.py",
                                          .ts_ns = 0,
                                          .dur_ns = 100,
                                          .ended = true})
                  .ok());
  int64_t ts_ns = 0;
  for (const auto& [steps, compiles] : progress) {
    ts_ns = std::min<int64_t>(ts_ns + 10, 100);
    EXPECT_TRUE(
        run.store()
            .Add(ObservedProgressRow{
                .process_id = run.process(), .ts_ns = ts_ns, .steps = steps, .compiles = compiles})
            .ok());
  }
  return *run.TheFinding().reason;
}

// Regression: a log of 80 compilations and a profile of one step gave the state "warm-up".
TEST(Recompilation, CompilationsArePlacedByWhatRunCounted) {
  EXPECT_EQ(ReasonByProgress({{29, 1}, {30, 2}, {59, 2}, {60, 3}, {79, 3}, {80, 4}, {94, 4}, {95, 5}, {100, 5}}).state,
            State::kOngoing);
  const Reason settled =
      ReasonByProgress({{9, 1}, {10, 2}, {19, 2}, {20, 3}, {29, 3}, {30, 4}, {39, 4}, {40, 5}, {100, 5}});
  EXPECT_EQ(settled.state, State::kSettled);
  EXPECT_EQ(settled.step, 40);
}

// A program that marks no steps has only times.
TEST(Recompilation, CompilationsOfARunWithoutStepsArePlacedInItsTime) {
  EXPECT_EQ(ReasonByProgress({{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 4}, {0, 4}, {0, 5}, {0, 5}}).state,
            State::kSettled);  // after 70 of 100 ns
  EXPECT_EQ(ReasonByProgress({{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 4}, {0, 4}, {0, 4}, {0, 5}}).state,
            State::kUnknown);
  // Three of them after 80 of 100 ns.
  EXPECT_EQ(ReasonByProgress({{0, 1}, {0, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 3}, {0, 5}}).state,
            State::kOngoing);
}

TEST(Recompilation, WhatRunCountedMayBeTooLittleToTell) {
  EXPECT_EQ(ReasonByProgress({{40, 1}, {100, 5}}).state, State::kUnknown);
  // Something else was counted as a compilation.
  EXPECT_EQ(ReasonByProgress({{9, 1}, {10, 2}, {20, 3}, {30, 4}, {40, 6}, {100, 6}}).state,
            State::kUnknown);
  EXPECT_EQ(ReasonByProgress({}).state, State::kUnknown);
}

// Returns a graph that stacks `count` scalars, as a step does that appends to a list.
TestNodes StackOf(int64_t count) {
  TestNodes nodes;
  std::string all;
  for (int64_t i = 0; i < count; ++i) {
    nodes.push_back(
        {.op = "xla::device_data", .shape = "f32[]", .location = "update@monitor.py:13"});
    all += fmt::format("{}{}", i == 0 ? "" : ",", i);
  }
  nodes.push_back({.op = "aten::stack",
                   .shape = fmt::format("f32[{}]{{0}}", count),
                   .operands = all,
                   .location = "update@monitor.py:13",
                   .root = 0});
  return nodes;
}

// Returns a graph that holds `rounds` rounds of a loop, each with two inputs of its own.
TestNodes RoundsOf(int64_t rounds) {
  TestNodes nodes;
  for (int64_t round = 0; round < rounds; ++round) {
    for (const char* shape : {"f32[8,16]{1,0}", "f32[8]{0}"})
      nodes.push_back({.op = "xla::device_data", .shape = shape, .location = "update@main.py:20"});
    for (int64_t i = 0; i < 80; ++i)
      nodes.push_back({.op = i % 2 == 0 ? "aten::mul" : "aten::relu",
                       .shape = "f32[8,16]{1,0}",
                       .operands = fmt::to_string(nodes.size() - (i == 0 ? 2 : 1)),
                       .location = "update@main.py:20"});
  }
  nodes.back().root = 0;
  return nodes;
}

// Regression: micro-batches that are accumulated without a step mark were taken for a list of
// tensors that grows.
TEST(Recompilation, ALoopThatRunsMoreOftenIsNoListThatGrows) {
  RecompileRun run;
  for (int64_t rounds = 1; rounds < 8; ++rounds)
    run.Step(run.Graph(fmt::format("g{}", rounds), RoundsOf(rounds), PrintedForm::kIrText,
                       2 * rounds, 1),
             {.dur_ns = 1'000'000'000});
  const Findings findings = run.Find();
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings)
    EXPECT_EQ(finding.reason->type, ReasonType::kLoopCountChange) << finding.words.title;
}

// Regression: a list that grows by one tensor in each step was taken for another path of the code
// (torch.where), for a number that is baked in, or for the state of an optimizer.
TEST(Recompilation, AListThatGrowsTakesMoreInputsEachTime) {
  RecompileRun run;
  for (int64_t count = 3; count < 20; ++count)
    run.Step(run.Graph(fmt::format("g{}", count), StackOf(count), PrintedForm::kIrText, count, 1),
             {.dur_ns = 1'000'000'000});
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kInputStructureChange);
  EXPECT_EQ(finding.reason->state, State::kOngoing);
  EXPECT_EQ(finding.count, 16);
  EXPECT_EQ(finding.subject.file, "monitor.py");
  EXPECT_EQ(finding.subject.line, 13);
  EXPECT_TRUE(finding.needs_fixing);
  const RecompileFigures figures = FiguresOfRecompiles(finding);
  const auto* growing = std::get_if<note::GrowingInputs>(&figures.cause.note);
  ASSERT_NE(growing, nullptr);
  EXPECT_EQ(growing->more, 1);
  EXPECT_EQ(growing->first, 3);
  EXPECT_EQ(growing->last, 19);
}

// An IR dump alone does not count inputs, but it lists them.
TEST(Recompilation, AListThatGrowsIsSeenInADumpAlone) {
  RecompileRun run;
  for (int64_t count = 3; count < 20; ++count)
    run.Step(run.Graph(fmt::format("g{}", count), StackOf(count)));
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kInputStructureChange);
  EXPECT_THAT(finding.words.title, testing::HasSubstr("it takes one more input each time"));
  EXPECT_THAT(finding.words.why, testing::EndsWith("takes 1 input more each time."));
}

// Numbers of inputs that go up and down belong to another path of the code.
TEST(Recompilation, InputsThatComeAndGoDoNotGrow) {
  RecompileRun run;
  for (const int64_t count : {3, 4, 9, 5, 6, 2, 7, 8, 1, 10, 11, 12})
    run.Step(run.Graph(fmt::format("g{}", count), StackOf(count), PrintedForm::kIrText, count, 1),
             {.dur_ns = 1'000'000'000});
  for (const Finding& finding : run.Find())
    EXPECT_NE(finding.reason->type, ReasonType::kInputStructureChange) << finding.words.title;
}

// Regression: what was cut once before the first step, and is cut at the line that also ends the
// step, was a warning that saved the compilation of the step.
TEST(Recompilation, PiecesThatAreCutAtOneLineAndRunAgainAreNone) {
  RecompileRun run;
  const int64_t before = run.Graph("zeros", {{.op = "aten::zeros", .shape = "f32[]", .root = 0}}),
                step = run.Graph("step", TrainStep(8));
  run.Steps(before, 3);
  run.Step(step, {.dur_ns = 10'000'000'000});
  run.Steps(step, 90);
  run.Exec("UPDATE compile SET ts_ns = ordinal * 1000000000");
  for (const Finding& finding : run.Find()) {
    EXPECT_FALSE(finding.needs_fixing) << finding.words.title;
    EXPECT_EQ(finding.saving_ns, std::nullopt);
  }
}

// The first step's graph differs in an op, but its batch counts as well.
TEST(Recompilation, PaddingIsWeighedByAllBatches) {
  RecompileRun run;
  TestNodes first = TrainStep(64);
  first[2].op = "aten::sub";
  run.Step(run.Graph("first", first));
  BatchesOf(run, {64, 64, 64, 48, 64, 17, 64, 64});
  const Findings findings = run.Find();
  ASSERT_FALSE(findings.empty());
  // 7 * 64 + 48 + 17 = 513 rows become 544 with buckets and 576 with one program.
  EXPECT_TRUE(std::ranges::any_of(findings, [](const Finding& finding) {
    const std::optional<PaddingChoice> padding = FiguresOfRecompiles(finding).padding;
    return padding && padding->buckets.buckets.size() == 2 &&
           std::abs(padding->buckets.extra_work - 544. / 513 + 1) < 1e-9 &&
           std::abs(padding->largest.extra_work - 576. / 513 + 1) < 1e-9;
  }));
}

TEST(Recompilation, SizesThatVaryAreOneFinding) {
  RecompileRun run;
  run.Frame("body", "/home/user/train.py", 6);
  BatchesOf(run, {64, 64, 64, 48, 64, 17, 64, 33, 64, 9, 64, 25, 64, 64},
            {.dur_ns = 1'000'000'000});
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.reason->type, ReasonType::kShapeChange);
  EXPECT_EQ(finding.reason->state, State::kOngoing);
  EXPECT_EQ(finding.count, 5);
  EXPECT_EQ(finding.cost_ns, 5'000'000'000);
  EXPECT_EQ(finding.saving_ns, 3'000'000'000);  // 3 buckets instead of 6 sizes
  EXPECT_EQ(finding.subject.file, "/home/user/train.py");
  EXPECT_EQ(finding.subject.line, 7);
  EXPECT_EQ(finding.reason->before, "f32[64,16]");
  const RecompileFigures figures = FiguresOfRecompiles(finding);
  EXPECT_EQ(figures.site.step_name, "train");
  ASSERT_TRUE(figures.sizes && figures.padding);
  EXPECT_EQ(figures.sizes->shape.text(), "f32[64,16]");
  EXPECT_THAT(figures.sizes->dimensions, ElementsAre(0));
  EXPECT_THAT(figures.sizes->sizes,
              ElementsAre(Sizes{64}, Sizes{48}, Sizes{17}, Sizes{33}, Sizes{9}, Sizes{25}));
  EXPECT_THAT(figures.padding->largest.buckets, ElementsAre(Sizes{64}));
  EXPECT_THAT(figures.padding->buckets.buckets, ElementsAre(Sizes{16}, Sizes{32}, Sizes{64}));
  ASSERT_THAT(finding.evidence, SizeIs(2));
  EXPECT_EQ(finding.evidence[1].table, "graph");  // the two graphs that were compared
  EXPECT_THAT(finding.evidence[1].rows, SizeIs(2));
  EXPECT_EQ(finding.evidence[0].table, "compile");
  EXPECT_THAT(finding.evidence[0].rows, SizeIs(5));
  EXPECT_NEAR(*finding.per_step, 5.0 / 14, 1e-9);
}

TEST(Recompilation, FindingsDoNotDependOnRowIds) {
  std::vector<Findings> all;
  for (int64_t offset : {0, 1000, 77}) {
    RecompileRun run(offset);
    BatchesOf(run, {64, 64, 64, 48, 64, 17, 64, 33, 64, 9, 64, 25, 64, 64});
    all.push_back(run.Find());
  }
  for (const Findings& findings : all) {
    ASSERT_EQ(findings.size(), all[0].size());
    for (size_t i = 0; i < findings.size(); ++i) {
      EXPECT_EQ(findings[i].words.title, all[0][i].words.title);
      EXPECT_EQ(findings[i].words.why, all[0][i].words.why);
      EXPECT_EQ(findings[i].subject.line, all[0][i].subject.line);
    }
  }
}

TEST(Recompilation, PartlyMeasuredCostSaysSo) {
  RecompileRun run;
  BatchesOf(run, {64, 64, 64, 48, 17, 33, 9, 25}, {.dur_ns = 1'000'000'000});
  run.Exec("UPDATE compile SET dur_ns = NULL WHERE id = (SELECT max(id) FROM compile)");
  Finding finding = run.TheFinding();
  EXPECT_EQ(finding.cost_ns, 4'000'000'000);
  EXPECT_EQ(FiguresOfRecompiles(finding).cost.timed, 4u);
  EXPECT_EQ(finding.count, 5);
  run.Exec("UPDATE compile SET dur_ns = NULL");
  finding = run.TheFinding();
  EXPECT_FALSE(finding.cost_ns.has_value());
  EXPECT_EQ(FiguresOfRecompiles(finding).cost.timed, 0u);
}

// A change that comes once does not hide the one that comes with every compile.
TEST(Recompilation, TheChangeThatExplainsMostTakesAll) {
  RecompileRun run;
  auto graph = [&](int i) {
    TestNodes nodes = {
        {.op = "xla::device_data", .shape = "f32[32,8]", .location = "body@train.py:4"},
        {.op = i == 3 ? "xla::device_data" : "prim::Constant",
         .shape = "f32[]",
         .location = "body@train.py:9"},
        {.op = "aten::pow", .shape = "f32[32,8]", .operands = "0,1", .location = "body@train.py:9"},
        {.op = "xla::select",
         .shape = fmt::format("f32[{},8]", 32 - i),
         .operands = "2",
         .location = "body@train.py:10",
         .root = 0}};
    return run.Graph("g" + std::to_string(i), nodes);
  };
  for (int i = 0; i < 12; ++i) run.Step(graph(i));
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kConstantChange);
  EXPECT_EQ(finding.subject.line, 10);
  EXPECT_EQ(finding.count, 11);
  EXPECT_EQ(finding.subject.op, "xla::select");
}

TEST(Recompilation, AnotherFormAnswersWhereTextPrintsAlike) {
  RecompileRun run;
  const TestNodes text = {
      {.op = "xla::device_data", .shape = "f32[64,8]", .location = "body@train.py:10"},
      {.op = "xla::select",
       .shape = "f32[1,8]",
       .operands = "0",
       .location = "body@train.py:11",
       .root = 0}};
  auto hlo = [](int i) {
    return TestNodes{{.op = "parameter",
                      .shape = "f32[64,8]",
                      .attributes = "0",
                      .location = "body@/home/user/train.py:10"},
                     {.op = "slice",
                      .shape = "f32[1,8]",
                      .operands = "0",
                      .attributes = fmt::format("slice={{[{}:{}], [0:8]}}", i, i + 1),
                      .location = "body@/home/user/train.py:11",
                      .root = 0}};
  };
  for (int i = 0; i < 12; ++i) {
    const int64_t graph = run.Graph("g" + std::to_string(i), text);
    run.Graph("g" + std::to_string(i), hlo(i), PrintedForm::kHloOptimized);
    run.Step(graph);
  }
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kConstantChange);
  EXPECT_EQ(finding.subject.line, 11);
  EXPECT_EQ(finding.count, 11);
  EXPECT_EQ(finding.reason->before, "slice={[0:1], [0:8]}");
  EXPECT_EQ(finding.reason->after, "slice={[1:2], [0:8]}");
  const RecompileCause cause = FiguresOfRecompiles(finding).cause;
  EXPECT_EQ(cause.constant, ConstantKind::kIndex);
  ASSERT_TRUE(std::holds_alternative<note::ViewReads>(cause.note));
  EXPECT_EQ(std::get<note::ViewReads>(cause.note).place.text(), "/home/user/train.py:10");
}

// Regression: the advice for queue[:, i:i + n] = keys was a tensor as i, which Python reads.
TEST(Recompilation, APadWritesAPartAtAnotherPosition) {
  RecompileRun run;
  for (int i = 0; i < 12; ++i) {
    const TestNodes nodes{{.op = "parameter", .shape = "f32[1,8]", .attributes = "0"},
                          {.op = "pad",
                           .shape = "f32[16,8]",
                           .operands = "0",
                           .attributes = fmt::format("padding={}_{}x0_0", i, 15 - i),
                           .root = 0}};
    run.Step(run.Graph("g" + std::to_string(i), nodes, PrintedForm::kHloOptimized));
  }
  const Finding finding = run.TheFinding();
  EXPECT_EQ(FiguresOfRecompiles(finding).cause.constant, ConstantKind::kWrittenPart);
  EXPECT_EQ(finding.words.unseen->what, "the line of the op");
}

TEST(Recompilation, OnlyAViewIsRecordedWhereItIsUsed) {
  RecompileRun run;
  for (int i = 0; i < 12; ++i) {
    const TestNodes nodes = {
        {.op = "xla::device_data", .shape = "f32[8]", .location = "body@/home/user/train.py:10"},
        {.op = "aten::constant_pad_nd",
         .shape = "f32[9]",
         .operands = "0",
         .attributes = fmt::format("value={}", i),
         .location = "body@/home/user/train.py:11",
         .root = 0}};
    run.Step(run.Graph("g" + std::to_string(i), nodes));
  }
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kConstantChange);
  const RecompileFigures figures = FiguresOfRecompiles(finding);
  EXPECT_EQ(figures.cause.seen_in, SeenIn::kIrDump);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(figures.cause.note));
  EXPECT_THAT(figures.beside, IsEmpty());
}

TEST(Recompilation, GraphsThatPrintAlikeNameCandidates) {
  RecompileRun run;
  const TestNodes text = {
      {.op = "xla::device_data", .shape = "f32[64,8]", .location = "body@train.py:10"},
      {.op = "xla::select",
       .shape = "f32[1,8]",
       .operands = "0",
       .location = "body@train.py:11",
       .root = 0}};
  for (int i = 0; i < 12; ++i)
    run.Step(run.Graph("g" + std::to_string(i), text, PrintedForm::kIrText, 1, 1));
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kUnprintedChange);
  const RecompileCause cause = FiguresOfRecompiles(finding).cause;
  ASSERT_TRUE(std::holds_alternative<note::PrintAlike>(cause.note));
  const note::PrintAlike::Node select{
      .op = "xla::select", .shape = "f32[1,8]", .place = {"/home/user/train.py", 11, ""}};
  EXPECT_THAT(std::get<note::PrintAlike>(cause.note).candidates, testing::Contains(select));
}

TEST(Recompilation, SharedInputsAndDonationComeBeforeUnprintedChanges) {
  RecompileRun sharing;
  for (int i = 0; i < 12; ++i) {
    const int64_t graph = sharing.Graph("g" + std::to_string(i), TrainStep(8));
    sharing.Graph("g" + std::to_string(i), {}, std::nullopt, 3 + i % 2,
                  1);  // the log counts inputs
    sharing.Step(graph);
  }
  const Findings findings = sharing.Find();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].reason->type, ReasonType::kParameterSharingChange);

  RecompileRun donation;
  for (int i = 0; i < 12; ++i)
    donation.Step(donation.Graph("g" + std::to_string(i), TrainStep(8)), {.alias_bytes = 100 + i});
  EXPECT_EQ(donation.TheFinding().reason->type, ReasonType::kDonationChange);
}

TEST(Recompilation, TheSameGraphCutInAnotherWay) {
  RecompileRun run;
  run.Steps(run.Graph("a", TrainStep(8)), 6);
  run.Steps(run.Graph("b", TrainStep(8)), 6, {.cause = CutKind::kParallelLoader});
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kCutKindChange);
  EXPECT_EQ(finding.reason->before, "user_sync");
  EXPECT_EQ(finding.reason->after, "parallel_loader");
  EXPECT_EQ(finding.count, 1);
}

TEST(Recompilation, AGraphThatIsCompiledAgainBehindOthersWasEvicted) {
  RecompileRun run;
  const int64_t graph = run.Graph("a", TrainStep(8));
  run.Steps(graph, 10);
  run.Steps(run.Graph("b", TrainStep(16)), 10);
  run.Step(graph, {.compiles = true});
  run.Steps(graph, 10);
  int64_t others = 0;
  for (const Finding& finding : run.Find()) {
    if (finding.reason->type != ReasonType::kCacheEviction) continue;
    const CauseNote note = FiguresOfRecompiles(finding).cause.note;
    ASSERT_TRUE(std::holds_alternative<note::OthersSince>(note));
    others = std::get<note::OthersSince>(note).others;
  }
  EXPECT_EQ(others, 1);
}

// Gives the executions of a run to two devices in turn.
void OnTwoDevices(RecompileRun& run) {
  run.Exec("UPDATE execution SET device = 'CPU:' || (ordinal % 2)");
}

TEST(Recompilation, CompilingForEachDeviceIsNoRecompile) {
  RecompileRun run;
  for (const char* hash : {"a", "b"}) {
    const int64_t graph = run.Graph(hash, TrainStep(hash[0] == 'a' ? 8 : 16));
    for (int device = 0; device < 2; ++device)
      run.Step(graph, {.dur_ns = 1'000'000, .compiles = true});
    run.Steps(graph, 10);
  }
  OnTwoDevices(run);
  // The batch changes once, which costs two compiles.
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kShapeChange);
  EXPECT_EQ(finding.count, 1);
  EXPECT_EQ(finding.cost_ns, 2'000'000);
}

TEST(Recompilation, MoreCompilesThanDevicesAreRecompiles) {
  RecompileRun run;
  const int64_t graph = run.Graph("a", TrainStep(8));
  for (int i = 0; i < 3; ++i) {
    run.Step(graph, {.compiles = true});
    run.Steps(graph, 10);
  }
  OnTwoDevices(run);
  EXPECT_EQ(run.TheFinding().count, 2);
}

TEST(Recompilation, AGraphThatIsCompiledTwiceInARowWasNotEvicted) {
  RecompileRun run;
  const int64_t graph = run.Graph("a", TrainStep(8));
  run.Steps(graph, 10);
  run.Step(graph, {.compiles = true});
  run.Steps(graph, 10);
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kUnknown);
  EXPECT_TRUE(
      std::holds_alternative<note::CompiledTwiceInARow>(FiguresOfRecompiles(finding).cause.note));
}

TEST(Recompilation, SettingsThatChangeAreTheEnvironment) {
  RecompileRun run;
  run.Exec(
      "INSERT INTO setting (process_id, name, value, evidence) VALUES (1, 'ir_debug', '0', 'x'), (1, 'ir_debug', '1', 'y')");
  run.Steps(run.Graph("a", TrainStep(8), PrintedForm::kIrText, 3, 1), 6);
  run.Steps(run.Graph("b", TrainStep(8), PrintedForm::kIrText, 3, 1), 6);
  EXPECT_EQ(run.TheFinding().reason->type, ReasonType::kEnvironmentChange);
}

TEST(Recompilation, WithoutGraphsSizesTellAndElseNothing) {
  RecompileRun run;
  for (int i = 0; i < 12; ++i)
    run.Step(run.Graph("g" + std::to_string(i), {}, std::nullopt, 3, 1),
             {.input_bytes = 1000 * (i + 1)});
  EXPECT_EQ(run.TheFinding().reason->type, ReasonType::kShapeChange);
  EXPECT_EQ(run.TheFinding().subject.line, 20);  // the line of the cut
  run.Exec("UPDATE compile SET input_bytes = 1000");
  EXPECT_EQ(run.TheFinding().reason->type, ReasonType::kUnknown);
  const RecompileFigures figures = FiguresOfRecompiles(run.TheFinding());
  EXPECT_EQ(figures.cause.seen_in, SeenIn::kNothing);
  EXPECT_EQ(figures.site.cut, CutKind::kUserSync);
}

// What a log shows of one compile.
struct Logged {
  int64_t inputs, bytes;
};

// Returns the findings of a run whose first steps compile these programs, and whose last steps run the
// last one.
Findings FindLogged(const std::vector<Logged>& compiles, int64_t last_steps = 200) {
  RecompileRun run;
  int64_t graph = 0;
  for (size_t i = 0; i < compiles.size(); ++i) {
    graph = run.Graph(fmt::format("g{}", i), {}, std::nullopt, compiles[i].inputs, 135);
    run.Step(graph, {.input_bytes = compiles[i].bytes});
  }
  run.Steps(graph, int(last_steps));
  return run.Find();
}

// Regression: three sizes of batches and then a number that became a constant were called a change of
// sizes that goes on.
TEST(Recompilation, SizesThatEarlierProgramsHadAreNoCause) {
  const Findings findings = FindLogged({{95, 2'953'864},
                                        {95, 2'958'159},
                                        {95, 2'961'380},
                                        {94, 2'961'380},
                                        {94, 2'953'864},
                                        {94, 2'958'159}});
  ASSERT_THAT(findings, SizeIs(2));
  std::map<ReasonType, const Finding*> by_type;
  for (const Finding& finding : findings) by_type[finding.reason->type] = &finding;
  ASSERT_TRUE(by_type.contains(ReasonType::kShapeChange));
  ASSERT_TRUE(by_type.contains(ReasonType::kUnknown));
  EXPECT_EQ(by_type[ReasonType::kShapeChange]->count, 2);
  EXPECT_EQ(by_type[ReasonType::kUnknown]->count, 3);
  const RecompileFigures figures = FiguresOfRecompiles(*by_type[ReasonType::kUnknown]);
  const auto* counts = std::get_if<note::OtherCounts>(&figures.cause.note);
  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(counts->inputs_before, 95);
  EXPECT_EQ(counts->inputs, 94);
}

TEST(Recompilation, ASizeThatComesBackIsNoCause) {
  const Findings findings =
      FindLogged({{95, 2'953'864}, {95, 2'958'159}, {95, 2'953'864}, {95, 2'958'159}});
  ASSERT_THAT(findings, SizeIs(2));
  for (const Finding& finding : findings) {
    const bool is_size = finding.reason->type == ReasonType::kShapeChange;
    EXPECT_EQ(finding.count, is_size ? 1 : 2);
    const CauseNote note = FiguresOfRecompiles(finding).cause.note;
    EXPECT_EQ(std::holds_alternative<note::SameCounts>(note), !is_size);
  }
}

// Regression: the note told of the first steps, in which the optimizer's state became inputs.
TEST(Recompilation, OfUnknownChangesTheMostFrequentIsTold) {
  const Findings findings =
      FindLogged({{14, 413'391}, {27, 1'205'812}, {27, 1'205'812}, {27, 1'205'812}}, 0);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings.front().count, 3);
  EXPECT_TRUE(
      std::holds_alternative<note::SameCounts>(FiguresOfRecompiles(findings.front()).cause.note));
}

// Regression: a profile of three steps showed the cause, which was one finding, and the log of the other
// compiles was another one without a cause.
TEST(Recompilation, ACauseThatGraphsShowIsLikelyThatOfProgramsWithEqualCounts) {
  const auto found = [](int shown) {
    RecompileRun run;
    for (int i = 0; i < 20; ++i) {
      const bool is_shown = i >= 10 && i < 11 + shown;
      const TestNodes nodes{{.op = "slice",
                             .shape = "f32[8]",
                             .attributes = fmt::format("slice={{[{}:64]}}", i),
                             .location = "body@train.py:7"}};
      run.Step(run.Graph(fmt::format("g{}", i), is_shown ? nodes : TestNodes(),
                         is_shown ? std::optional(PrintedForm::kHloOptimized) : std::nullopt, 27,
                         34),
               {.input_bytes = 1'205'812});
    }
    return run.Find();
  };
  const Findings findings = found(3);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings.front().reason->type, ReasonType::kConstantChange);
  EXPECT_EQ(findings.front().reason->state, State::kOngoing);
  EXPECT_EQ(findings.front().count, 19);
  EXPECT_EQ(FiguresOfRecompiles(findings.front()).carried, 16u);
  EXPECT_EQ(FiguresOfRecompiles(findings.front()).from_sizes, 0u);
  // Once is no pattern.
  EXPECT_THAT(found(1), SizeIs(2));
}

TEST(Recompilation, WhereOnlySomeGraphsWereCapturedTheLogJoinsThem) {
  RecompileRun run;
  run.Step(run.Graph("b64", TrainStep(64), PrintedForm::kIrText, 3, 1), {.input_bytes = 64});
  for (int i = 1; i < 10; ++i) {
    const std::string hash = "b" + std::to_string(i);
    run.Step(i < 3 ? run.Graph(hash, TrainStep(i), PrintedForm::kIrText, 3, 1)
                   : run.Graph(hash, {}, std::nullopt, 3, 1),
             {.input_bytes = i});
  }
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kShapeChange);
  EXPECT_EQ(finding.count, 9);
  EXPECT_EQ(finding.subject.line, 7);
  EXPECT_EQ(FiguresOfRecompiles(finding).from_sizes, 7u);
}

// Regression: `--steps 2:4` hid the graphs of the steps before, and the report said "nothing
// captured showed why".
TEST(Recompilation, APartOfTheRunIsComparedWithWhatCameBefore) {
  RecompileRun run;
  for (int i = 0; i < 10; ++i)
    run.Step(run.Graph("b" + std::to_string(i), TrainStep(64 - i)), {.dur_ns = 1'000'000});
  run.Exec("UPDATE step SET ts_ns = ordinal * 1500000, dur_ns = 1500000");
  run.Exec("UPDATE compile SET ts_ns = (SELECT ts_ns FROM step WHERE id = step_id)");
  run.Exec(
      "INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, "
      "0, 10);"
      "INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, "
      "'CompileTime', "
      "'ns', 100, 1e11, '')");
  ASSERT_TRUE(run.store().Restrict({.first_step = 5, .last_step = 5}).ok());
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.count, 1);
  EXPECT_EQ(finding.cost_ns, 1'000'000);
  EXPECT_EQ(finding.reason->type, ReasonType::kShapeChange);
  EXPECT_EQ(finding.reason->before, "f32[60,16]");
  EXPECT_EQ(finding.reason->after, "f32[59,16]");
  EXPECT_EQ(finding.severity, Severity::kWarning) << "it is most of what was asked for";
}

TEST(Recompilation, AJittedFunctionIsASite) {
  RecompileRun run;
  for (int i = 0; i < 12; ++i) {
    const std::string rows = std::to_string(128 - 8 * (i / 3));
    if (i % 3 == 0) {
      run.Graph("",
                {{.op = "parameter", .shape = "f32[" + rows + ",64]", .attributes = "0"},
                 {.op = "tanh", .shape = "f32[" + rows + ",64]", .operands = "0", .root = 0}},
                PrintedForm::kHloOptimized);
    }
    run.Step(run.store().One<int64_t>("SELECT max(id) FROM graph").value().value(),
             {.cause = CutKind::kCall, .function = "train_step", .line = 18});
  }
  const Finding finding = run.TheFinding();
  const RecompileFigures figures = FiguresOfRecompiles(finding);
  EXPECT_EQ(finding.count, 3);
  EXPECT_EQ(figures.site.function, "train_step");
  ASSERT_TRUE(figures.sizes.has_value());
  EXPECT_EQ(figures.sizes->shape.text(), "f32[128,64]");
  EXPECT_THAT(figures.sizes->dimensions, ElementsAre(0));
  EXPECT_THAT(figures.sizes->sizes, ElementsAre(Sizes{128}, Sizes{120}, Sizes{112}, Sizes{104}));
  EXPECT_EQ(finding.subject.function, "train_step");
  EXPECT_EQ(finding.subject.line, 18);
}

// A line inside the model's layers cuts each step into the same two pieces, and later one of them
// changes.
TEST(Recompilation, PiecesThatOneLineCutsInEachStepAreNoRecompiles) {
  RecompileRun run;
  const int64_t first = run.Graph("a", TrainStep(4));
  const int64_t second = run.Graph("b", TrainStep(8));
  for (int i = 0; i < 20; ++i) run.Step(first), run.Execute(second, {});
  EXPECT_TRUE(run.Find().empty());
  for (int i = 0; i < 4; ++i) run.Step(run.Graph(fmt::format("c{}", i), TrainStep(20 + i)));
  EXPECT_EQ(run.TheFinding().count, 4);
}

TEST(Recompilation, RanksOfOneJobAreOneFinding) {
  RecompileRun run;
  for (int rank = 0; rank < 3; ++rank) {
    if (rank > 0) run.NextProcess();
    for (int i = 0; i < 12; ++i)
      run.Step(run.Graph(fmt::format("r{}b{}", rank, i), TrainStep(i + 1)));
  }
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.count, 11);
  EXPECT_EQ(FiguresOfRecompiles(finding).processes, 3);
  EXPECT_THAT(finding.evidence, SizeIs(4));  // compiles of each rank, and the graphs of one
}

// There is a read in each step but no step mark, so the graph of each read also holds the steps
// before it.
TEST(Recompilation, GrowthWithoutAStepMarkIsNoCauseOfItsOwn) {
  for (const bool with_sizes : {false, true}) {
    RecompileRun run;
    TestNodes nodes;
    for (int i = 0; i < 12; ++i) {
      const int32_t first = int32_t(nodes.size());
      for (TestNode node : TrainStep(8)) {
        node.root = {};
        if (node.operands == "1,0") node.operands = fmt::format("{},{}", first + 1, first);
        if (node.operands == "2,3") node.operands = fmt::format("{},{}", first + 2, first + 3);
        nodes.push_back(std::move(node));
      }
      nodes.back().root = 0;
      if (with_sizes && i >= 4) nodes[1].shape = fmt::format("f32[{},16]{{1,0}}", 8 + i);
      run.Step(run.Graph("g" + std::to_string(i), nodes),
               {.cause = CutKind::kValueAccess, .dur_ns = 1'000'000});
      nodes.back().root = {};
    }
    for (const Finding& finding : run.Find()) {
      EXPECT_EQ(finding.severity == Severity::kInfo,
                finding.reason->type == ReasonType::kNoStepMark);
      EXPECT_TRUE(with_sizes || finding.count == 11) << finding.words.title;
      if (finding.reason->type != ReasonType::kNoStepMark) continue;
      const CauseNote note = FiguresOfRecompiles(finding).cause.note;
      ASSERT_TRUE(std::holds_alternative<note::GrowsWithoutStepMark>(note));
      EXPECT_EQ(std::get<note::GrowsWithoutStepMark>(note).first_nodes, 5);
      EXPECT_EQ(std::get<note::GrowsWithoutStepMark>(note).last_nodes, 60);
    }
    EXPECT_THAT(run.Find(), SizeIs(with_sizes ? 2 : 1));
    // With one step mark, growth is an ordinary recompilation again.
    run.Step(1, {.cause = CutKind::kUserSync});
    for (const Finding& finding : run.Find())
      EXPECT_NE(finding.reason->type, ReasonType::kNoStepMark);
  }
}

// Returns a step in which a number is part of the graph, at a line of a library.
TestNodes BakedNumber(double value) {
  return {{.op = "parameter", .shape = "f32[8]{0}", .attributes = "parameter=0"},
          {.op = "constant",
           .shape = "f32[]",
           .attributes = fmt::format("literal={}", value),
           .location = "batch_norm@/opt/lib/python3.11/site-packages/torch/nn/functional.py:2813",
           .framework_op = "xla::moving_average"},
          {.op = "broadcast", .shape = "f32[8]{0}", .operands = "1"},
          {.op = "multiply",
           .shape = "f32[8]{0}",
           .operands = "0,2",
           .location = "step@/home/user/train.py:7",
           .root = 0}};
}

TEST(Recompilation, ABakedNumberIsNamedByTheFrameworksOp) {
  RecompileRun run;
  for (int i = 0; i < 12; ++i)
    run.Step(run.Graph(fmt::format("{}", i), BakedNumber(0.5 + i), PrintedForm::kHlo),
             {.dur_ns = 1'000'000});
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.reason->type, ReasonType::kConstantChange);
  EXPECT_EQ(finding.subject.op, "xla::moving_average");
  const RecompileCause& cause = FiguresOfRecompiles(finding).cause;
  EXPECT_EQ(cause.library.line, 2813);
  EXPECT_FALSE(cause.before.starts_with("literal="));
}

TEST(Recompilation, WithoutTheFrameworksOpTheOpThatUsesTheNumberIsNamed) {
  RecompileRun run;
  for (int i = 0; i < 12; ++i) {
    TestNodes nodes = BakedNumber(0.5 + i);
    nodes[1].framework_op.clear();
    run.Step(run.Graph(fmt::format("{}", i), nodes, PrintedForm::kHlo), {.dur_ns = 1'000'000});
  }
  EXPECT_EQ(run.TheFinding().subject.op, "multiply");
}

TEST(Recompilation, AnInputThatStepsAppendToIsNotPadded) {
  RecompileRun run;
  for (int64_t length = 4; length < 20; ++length)
    run.Step(run.Graph(fmt::format("{}", length), TrainStep(length)), {.dur_ns = 1'000'000});
  const Finding finding = run.TheFinding();
  EXPECT_TRUE(FiguresOfRecompiles(finding).grows_steadily);
  EXPECT_FALSE(FiguresOfRecompiles(finding).padding);
  EXPECT_EQ(finding.saving_ns, finding.cost_ns);
}

// Sizes that first come in ascending order and then again are those of a cropped batch. No graph
// makes such an input, so no step appends to it.
TEST(Recompilation, AnInputWhoseSizesComeAgainIsPadded) {
  RecompileRun run;
  std::vector<int64_t> graphs;
  for (int64_t length = 4; length < 20; ++length)
    graphs.push_back(run.Graph(fmt::format("{}", length), TrainStep(length)));
  for (int64_t graph : graphs) run.Step(graph, {.dur_ns = 1'000'000});
  for (int64_t graph : graphs) run.Step(graph);
  const Finding finding = run.TheFinding();
  EXPECT_FALSE(FiguresOfRecompiles(finding).grows_steadily);
  EXPECT_TRUE(FiguresOfRecompiles(finding).padding);
}

TEST(Recompilation, ProgramsWithoutAPlaceThatRunOftenMayBeOthers) {
  RecompileRun run;
  const TestNodes train = TrainStep(8);
  TestNodes evaluate = train;
  evaluate.push_back({.op = "aten::argmax", .shape = "s64[8]{0}", .operands = "2", .root = 1});
  const int64_t graphs[] = {run.Graph("a", train), run.Graph("b", evaluate)};
  const How unplaced{.line = 0, .dur_ns = 1'000'000'000};
  run.Steps(graphs[0], 20, unplaced);
  run.Steps(graphs[1], 10, unplaced);
  run.Steps(graphs[0], 20, unplaced);
  const Finding finding = run.TheFinding();
  EXPECT_TRUE(FiguresOfRecompiles(finding).may_be_other_programs);
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.saving_ns, std::nullopt);
}

// A Chrome trace names a graph only where it was compiled.
TEST(Recompilation, WithoutTheGraphsOfExecutionsFewCompilesMayBeOthers) {
  RecompileRun run;
  const auto compile = [&](const std::string& hash) {
    run.Step(run.Graph(hash, {}, std::nullopt), {.line = 0, .dur_ns = 1'000'000'000});
  };
  const auto run_unnamed = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      run.Exec(fmt::format("INSERT INTO step (process_id, ordinal, name) VALUES (1, {}, 'train')",
                           1000 + i));
    }
  };
  for (const char* hash : {"a", "b", "c", "d", "e", "f"}) compile(hash);
  run_unnamed(200);
  EXPECT_TRUE(FiguresOfRecompiles(run.TheFinding()).may_be_other_programs);
}

TEST(Recompilation, ReadsOfOtherTypesAtOneLineAreOtherReads) {
  RecompileRun run;
  const How read{.cause = CutKind::kValueAccess, .line = 25, .dur_ns = 1'000'000};
  const auto result = [](const std::string& shape) {
    return TestNodes{{.op = "xla::device_data", .shape = "f32[10,10]{1,0}"},
                     {.op = "aten::sum", .shape = shape, .operands = "0", .root = 0}};
  };
  const int64_t number = run.Graph("a", result("f32[]")),
                matrix = run.Graph("b", result("f32[10]{0}"));
  for (int i = 0; i < 5; ++i) {
    run.Step(number, read);
    run.Execute(matrix, read);
  }
  EXPECT_TRUE(run.Find().empty());
}

}  // namespace
}  // namespace xlaprof
