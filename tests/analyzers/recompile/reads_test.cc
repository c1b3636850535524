// Tests reads that recompile: which of them are one, and numbers that are read and become a size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/recompile/compile_sites.h"
#include "analyzers/recompile/size_reads.h"
#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Returns the graph of a value that an op makes of a tensor with `rows` rows.
TestNodes ValueOf(const std::string& op, const std::string& location, int64_t rows) {
  const std::string shape = fmt::format("f32[{},4]", rows);
  return {{.op = "xla::device_data", .shape = shape, .location = "pick@mask.py:3"},
          {.op = "aten::exp", .shape = shape, .operands = "0", .location = location},
          {.op = op, .shape = "f32[]", .operands = "1", .location = location, .root = 0}};
}

// Regression: the loss and the accuracy were read by one line in turn, and the report said that the
// ops of one read change.
TEST(Reads, OfDifferentOpsInOneStepAreSeveral) {
  RecompileRun run;
  const int64_t step = run.Graph("step", TrainStep(8));
  for (int64_t rows = 5; rows < 10; ++rows) {
    run.Step(run.Graph(fmt::format("loss{}", rows), ValueOf("aten::nll_loss", "f@a.py:1", rows)),
             {.cause = CutKind::kValueAccess, .line = 9});
    run.Execute(run.Graph(fmt::format("mean{}", rows), ValueOf("aten::mean", "f@a.py:2", rows)),
                {.cause = CutKind::kValueAccess, .line = 9});
    run.Execute(step, {});
  }
  const std::vector<Finding> found = run.Find();
  ASSERT_THAT(found, SizeIs(2));
  for (const Finding& finding : found) {
    EXPECT_EQ(finding.reason->type, ReasonType::kShapeChange);
    EXPECT_EQ(finding.count, 4);
  }
}

TEST(Reads, WhoseOpsChangeFromStepToStepAreOne) {
  RecompileRun run;
  const int64_t step = run.Graph("step", TrainStep(8));
  for (const char* op : {"aten::sum", "aten::mean", "aten::max"}) {
    run.Step(run.Graph(op, ValueOf(op, "f@a.py:1", 5)),
             {.cause = CutKind::kValueAccess, .line = 9});
    run.Execute(step, {});
  }
  EXPECT_EQ(run.TheFinding().reason->type, ReasonType::kOpChange);
}

EarlyCut ReadAt(int64_t line, const char* shape) {
  EarlyCut cut{.subject = {.file = "/x/loss.py", .line = line, .function = "forward"}};
  cut.value = EarlyCut::Value::kScalar;
  cut.shape = XlaShape::Parse(shape);
  return cut;
}

RecompileCause SizeAt(int64_t line, const char* function = "forward") {
  return {.type = ReasonType::kShapeChange,
          .location = {.file = "/x/loss.py", .line = line, .function = function},
          .is_size_inside = true};
}

// Returns the line of the read that decides the size in `cause`; nothing if none does.
OptInt LineOfRead(const std::vector<EarlyCut>& cuts, RecompileCause cause) {
  std::vector<RecompileCause> causes{std::move(cause)};
  SizeReads({.cuts = cuts}).Explain(&causes);
  return causes[0].size_read.line;
}

// Regression: a read of one number was said to cost as much as the graphs that take the model's weights,
// because each compile had an equal share of the metric's sum.
TEST(Reads, OfSmallGraphsSaveNoEqualShare) {
  const auto saving = [](const std::string& from, int64_t inputs) {
    RecompileRun run;
    for (int i = 0; i < 3; ++i) {
      run.Step(run.Graph(fmt::format("s{}", i), {}, std::nullopt, 36 + i, 2),
               {.dur_ns = 1'000'000'000});
      run.Execute(run.Graph(fmt::format("r{}", i), {}, std::nullopt, inputs, 1),
                  {.cause = CutKind::kValueAccess,
                   .line = 22,
                   .dur_ns = 1'000'000'000,
                   .input_bytes = 100'000 * (i + 1)});
    }
    run.Exec(fmt::format("UPDATE compile SET dur_from = '{}'", from));
    OptInt saving_ns;
    for (const Finding& finding : run.Find())
      if (finding.reason->type == ReasonType::kShapeChange) saving_ns = finding.saving_ns;
    return saving_ns;
  };
  EXPECT_EQ(saving("metrics_share", 30), saving("metrics", 1));
  EXPECT_FALSE(saving("metrics_share", 1).has_value());
}

// Regression: an evaluation without step marks was one graph of 49 batches, and the report was silent.
TEST(Reads, AGraphThatTakesLongerToCompileThanAStepHoldsRounds) {
  const auto find = [](int64_t read_ns, const char* from) {
    RecompileRun run;
    const int64_t step = run.Graph("step", {}, std::nullopt, 69, 101);
    for (int i = 0; i < 20; ++i) {
      run.Step(step, {.dur_ns = 800'000'000});
      if (i % 10 == 9)
        run.Execute(run.Graph("read", {}, std::nullopt, 118, 1),
                    {.cause = CutKind::kValueAccess, .line = 42, .dur_ns = read_ns});
    }
    run.Exec(fmt::format(
        "UPDATE compile SET dur_from = '{}'; INSERT INTO observed_process (process_id, command, "
        "ts_ns, dur_ns, ended) VALUES ({}, 'train.py', 0, 20000000000, 1)",
        from, run.process()));
    return Analyze(xlaprof::Run(run.store())).value();
  };
  const auto marks_rounds = [](const Findings& findings) {
    return std::ranges::count_if(findings, [](const Finding& finding) {
      return finding.severity == Severity::kWarning &&
             finding.words.advice.find("at the end of each round") != std::string::npos;
    });
  };
  EXPECT_EQ(marks_rounds(find(4'000'000'000, "metrics")), 2);  // the read, and its compilation
  EXPECT_EQ(marks_rounds(find(2'300'000'000, "metrics")), 0);
  EXPECT_EQ(marks_rounds(find(4'000'000'000, "metrics_share")), 0);
}

TEST(SizeReads, AnIntegerThatIsReadBeforeTheOpIsItsSize) {
  EXPECT_EQ(LineOfRead({ReadAt(5, "s64[]"), ReadAt(12, "s64[]")}, SizeAt(13)), 12);
}

TEST(SizeReads, AnyNumberThatTheSameLineReadsIsItsSize) {
  EXPECT_EQ(LineOfRead({ReadAt(13, "f32[]")}, SizeAt(13)), 13);
}

TEST(SizeReads, OtherReadsAreNot) {
  EXPECT_EQ(LineOfRead({ReadAt(12, "f32[]")}, SizeAt(13)), std::nullopt) << "a loss is no size";
  EXPECT_EQ(LineOfRead({ReadAt(14, "s64[]")}, SizeAt(13)), std::nullopt) << "it comes later";
  EXPECT_EQ(LineOfRead({ReadAt(12, "s64[]")}, SizeAt(13, "step")), std::nullopt);
}

TEST(SizeReads, AnInputOfAnotherSizeExplainsTheSizesInside) {
  std::vector<RecompileCause> causes{{.type = ReasonType::kShapeChange, .is_input = true},
                                     SizeAt(13)};
  SizeReads({.cuts = {ReadAt(13, "s64[]")}}).Explain(&causes);
  EXPECT_TRUE(causes[1].size_read.empty());
}

TEST(SizeReads, AnInputThatComesBackFromAReadHasItsSizeFromIt) {
  EarlyCut mask = ReadAt(13, "pred[192]");
  mask.value = EarlyCut::Value::kTensor;
  RecompileCause input = SizeAt(13);
  mask.returned = InputsOfLine{.place = input.location};
  input.is_size_inside = false;
  input.is_input = true;
  EXPECT_EQ(LineOfRead({mask}, input), 13);
  input.library.file = "module.py";
  EXPECT_EQ(LineOfRead({mask}, input), std::nullopt) << "the line only uses it";
}

TEST(SizeReads, AnIntegerThatEachStepReadsIsTheSizeOfAnInputBelowIt) {
  EarlyCut count = ReadAt(12, "s64[]");
  count.executions = {1, 2, 3};
  count.steps = 3;
  RecompileCause input = SizeAt(15);
  input.is_size_inside = false;
  input.is_input = true;
  EXPECT_EQ(LineOfRead({count}, input), 12);
  count.steps = 30;
  EXPECT_EQ(LineOfRead({count}, input), std::nullopt) << "it is read once per epoch";
  count.steps = 3;
  input.location.line = 40;
  EXPECT_EQ(LineOfRead({count}, input), std::nullopt) << "it is far below";
}

TEST(SizeReads, TheOpInTheLineOfTheReadComesFirst) {
  std::vector<RecompileCause> causes{SizeAt(20, "step"), SizeAt(15), SizeAt(14)};
  SizeReads({.cuts = {ReadAt(14, "s64[]")}}).Explain(&causes);
  EXPECT_THAT(causes,
              ElementsAre(testing::Field(&RecompileCause::location, SizeAt(14).location),
                          testing::Field(&RecompileCause::location, SizeAt(15).location),
                          testing::Field(&RecompileCause::location, SizeAt(20, "step").location)));
}

}  // namespace
}  // namespace xlaprof
