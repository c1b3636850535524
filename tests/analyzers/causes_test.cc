// Tests which findings explain which, and the order in which a report shows them.
#include "analyzers/causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/device_gap.h"
#include "analyzers/fallback.h"
#include "analyzers/graph_fragmentation.h"
#include "analyzers/kinds.h"
#include "analyzers/missing_step_mark.h"
#include "analyzers/recompilation.h"
#include "analyzers/recompile/outside_jit.h"
#include "analyzers/sync_point.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

Finding Gap(ReasonType reason, int64_t cost_ns) {
  return {.analyzer = &device_gap, .cost_ns = cost_ns, .reason = Reason{.type = reason}};
}

Finding Recompile(ReasonType reason, int64_t cost_ns, std::vector<int64_t> compiles = {}) {
  Finding finding{.analyzer = &recompilation,
                  .needs_fixing = true,
                  .severity = Severity::kWarning,
                  .cost_ns = cost_ns,
                  .reason = Reason{.type = reason}};
  finding.evidence.push_back({.table = "compile", .rows = std::move(compiles)});
  finding.figures = RecompileFigures();
  return finding;
}

Finding Fallback(const std::string& op) {
  return {.analyzer = &fallback,
          .subject = {.file = "/x/detect.py", .line = 8, .op = op},
          .cost_ns = 43,
          .reason = Reason{.type = ReasonType::kNoLowering}};
}

CauseLinks Link(TimedRun& run, Findings& findings) {
  absl::StatusOr<CauseLinks> links = LinkCauses(xlaprof::Run(run.store()), findings);
  EXPECT_TRUE(links.ok()) << links.status();
  return *links;
}

TEST(Causes, CompilingLeavesTheDeviceIdle) {
  TimedRun run;
  Findings findings{Gap(ReasonType::kCompile, 90), Recompile(ReasonType::kShapeChange, 10),
                    Recompile(ReasonType::kConstantChange, 80)};
  EXPECT_THAT(Link(run, findings),
              testing::ElementsAre(std::optional<size_t>(2), std::nullopt, std::nullopt));
}

TEST(Causes, AGapWithAnotherReasonHasNoSuchCause) {
  TimedRun run;
  Findings findings{Gap(ReasonType::kUserScope, 90), Recompile(ReasonType::kShapeChange, 10)};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

// Adds a step in which the op ran before a compilation, or after it.
void AddMaskedStep(TimedRun& run, int64_t step, bool op_comes_first) {
  const int64_t first = 10 * step, second = first + 1;
  run.Exec(fmt::format(
      "INSERT INTO fallback (process_id, ordinal, op, count, step_id) VALUES (1, {}, "
      "'aten::nonzero', 1, {}); INSERT INTO compile (id, process_id, ordinal, step_id, inferred) "
      "VALUES ({}, 1, {}, {}, 0)",
      op_comes_first ? first : second, step, step, op_comes_first ? second : first, step));
}

TEST(Causes, AMaskThatRanBeforeTheCompilesExplainsTheirSizes) {
  TimedRun run;
  for (int64_t step = 1; step <= 5; ++step) AddMaskedStep(run, step, true);
  Findings findings{Recompile(ReasonType::kShapeChange, 60, {1, 2, 3, 4, 5}),
                    Fallback("aten::nonzero")};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  const auto& figures = std::any_cast<const RecompileFigures&>(findings[0].figures);
  ASSERT_TRUE(figures.mask);
  EXPECT_EQ(figures.mask->line, 8);
}

TEST(Causes, AMaskAfterTheCompilesExplainsNothing) {
  TimedRun run;
  for (int64_t step = 1; step <= 5; ++step) AddMaskedStep(run, step, false);
  Findings findings{Recompile(ReasonType::kShapeChange, 60, {1, 2, 3, 4, 5}),
                    Fallback("aten::nonzero")};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(Causes, ANumberThatIsReadExplainsTheSizesThatItDecides) {
  TimedRun run;
  const SourcePlace read{.file = "/x/loss.py", .line = 12, .function = "forward"};
  Findings findings{Recompile(ReasonType::kShapeChange, 60),
                    {.analyzer = &sync_point, .figures = SyncPointFigures(EarlyReadFigures())}};
  findings[1].subject.SetPlace(read);
  RecompileFigures figures;
  figures.cause.node = "aten::topk";
  figures.cause.size_read = read;
  findings[0].figures = figures;
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  const auto& early =
      std::get<EarlyReadFigures>(std::any_cast<const SyncPointFigures&>(findings[1].figures));
  ASSERT_TRUE(early.decides_size);
  EXPECT_EQ(early.decides_size->op, "aten::topk");
}

TEST(Causes, AnOpWithAFixedSizeExplainsNoSizes) {
  TimedRun run;
  for (int64_t step = 1; step <= 5; ++step) AddMaskedStep(run, step, true);
  Findings findings{Recompile(ReasonType::kShapeChange, 60, {1, 2, 3, 4, 5}),
                    Fallback("aten::isin")};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(Causes, CopiesThatBelongToAnOpFollowFromIt) {
  TimedRun run;
  Finding op = Fallback("aten::grid_sampler_2d");
  op.figures = FallbackFigures(FallbackOpFigures{.cost = FallbackOpFigures::Cost::kShareOfMetrics});
  Findings findings{{.analyzer = &large_transfer, .cost_ns = 27}, op};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  findings[1] = Fallback("aten::grid_sampler_2d");  // nobody knows whose copies they are
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(Causes, AMissingStepMarkExplainsGraphsThatGrow) {
  TimedRun run;
  Findings findings{
      Recompile(ReasonType::kNoStepMark, 106),
      {.analyzer = &missing_step_mark, .reason = Reason{.type = ReasonType::kNoStepMark}}};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
}

TEST(Causes, AMissingStepMarkExplainsTheReadsThatEvaluateEverything) {
  TimedRun run;
  const Subject line{.file = "/x/train.py", .line = 7};
  Findings findings{
      {.analyzer = &sync_point, .subject = line, .cost_ns = 283},
      {.analyzer = &missing_step_mark, .needs_fixing = true, .subject = line, .cost_ns = 407},
      {.analyzer = &sync_point, .subject = {.file = "/x/train.py", .line = 9}}};
  EXPECT_THAT(Link(run, findings),
              testing::ElementsAre(std::optional<size_t>(1), std::nullopt, std::nullopt));
}

TEST(OrderByCause, PutsTheRootFirstWithTheCostOfAllCountedOnce) {
  // A fallback (43) changes sizes (two recompiles, 60 and 20), which leave the device idle (70).
  Findings findings{Gap(ReasonType::kCompile, 70), Recompile(ReasonType::kShapeChange, 20),
                    Fallback("aten::nonzero"), Recompile(ReasonType::kShapeChange, 60),
                    Gap(ReasonType::kUserScope, 50)};
  findings[1].subject.line = 1, findings[3].subject.line = 2;
  findings[4].severity = Severity::kWarning;
  const Findings ordered =
      OrderByCause(findings, {size_t{3}, size_t{2}, std::nullopt, size_t{2}, std::nullopt});
  ASSERT_EQ(ordered.size(), 5u);
  EXPECT_EQ(ordered[0].kind(), "fallback");
  EXPECT_EQ(ordered[0].total_cost_ns, 43 + 60 + 20);
  EXPECT_EQ(ordered[0].severity, Severity::kWarning);  // as severe as what follows from it
  EXPECT_EQ(ordered[0].depth, 0);
  EXPECT_EQ(ordered[0].consequences.size(), 2u);
  EXPECT_EQ(ordered[1].cost_ns, 60);
  EXPECT_EQ(ordered[1].depth, 1);
  EXPECT_EQ(ordered[1].because_of, ordered[0].fingerprint);
  EXPECT_EQ(ordered[2].kind(), "device_gap");
  EXPECT_EQ(ordered[2].depth, 2);
  EXPECT_EQ(ordered[2].because_of, ordered[1].fingerprint);
  EXPECT_EQ(ordered[3].cost_ns, 20);
  EXPECT_EQ(ordered[4].depth, 0);
  EXPECT_EQ(ordered[4].because_of, "");
  EXPECT_FALSE(ordered[4].total_cost_ns);
}

TEST(OrderByCause, WhatStopsTheProgramComesBeforeWhatCostsTime) {
  Findings findings{Recompile(ReasonType::kShapeChange, 80), Gap(ReasonType::kUserScope, 90)};
  findings[1].severity = Severity::kError;
  findings.push_back({.analyzer = &graph_break,
                      .needs_fixing = true,
                      .severity = Severity::kError,
                      .stops_program = true});
  const Findings ordered =
      OrderByCause(std::move(findings), {std::nullopt, std::nullopt, std::nullopt});
  EXPECT_EQ(ordered[0].analyzer, &graph_break);
  EXPECT_EQ(ordered[1].analyzer, &device_gap);
}

TEST(OrderByCause, ARemedySavesTheCompilingThatFollowsToo) {
  Findings findings{Fallback("aten::nonzero"), Recompile(ReasonType::kShapeChange, 60),
                    Recompile(ReasonType::kShapeChange, 30), Gap(ReasonType::kCompile, 90)};
  for (Finding& finding : findings) {
    finding.saving_ns = finding.cost_ns;
    finding.saving_interval_ns = {*finding.cost_ns / 2, *finding.cost_ns * 2};
  }
  const Findings ordered = OrderByCause(std::move(findings), {std::nullopt, 0, 1, 1});
  EXPECT_EQ(ordered[0].total_saving_ns(), 43 + 60 + 30) << "idle time is the same time";
  EXPECT_EQ(ordered[0].total_saving_interval_ns,
            std::pair(int64_t{21 + 30 + 15}, int64_t{2 * (43 + 60 + 30)}));
  EXPECT_EQ(ordered[1].total_saving_ns(), 60 + 30);
}

TEST(OrderByCause, CountsIdleTimeAndTheCausesPartsOnce) {
  // A missing step mark (100, of which 60 for compilations) makes graphs new (60) and reads long (50).
  // Meanwhile the device idles (170), which is the same time.
  Findings findings{{.analyzer = &missing_step_mark, .cost_ns = 100, .compiling_ns = 60},
                    Recompile(ReasonType::kNoStepMark, 60),
                    {.analyzer = &sync_point, .cost_ns = 50},
                    Gap(ReasonType::kCompile, 170)};
  const CauseLinks links{std::nullopt, size_t{0}, size_t{0}, size_t{1}};
  EXPECT_EQ(OrderByCause(findings, links)[0].total_cost_ns, 60 + 50);
}

TEST(Causes, AnInputThatFitsTheResultOfAnOpComesFromIt) {
  TimedRun run;
  Finding sizes = Recompile(ReasonType::kShapeChange, 60);
  sizes.subject = {.file = "/x/loss.py", .line = 18, .function = "mlm_loss"};
  RecompileFigures figures;
  figures.cause.is_input = true;
  figures.sizes = SizesSeen{.shape = *XlaShape::Parse("s64[130,2]"), .dimensions = {0}};
  sizes.figures = figures;
  Finding op = Fallback("aten::nonzero");
  op.per_step = 3;
  op.subject.file.reset(), op.subject.line.reset();
  Findings findings{sizes, op};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  EXPECT_EQ(findings[1].subject.line, 18) << "the op's result enters the graph at its own line";

  figures.sizes =
      SizesSeen{.shape = *XlaShape::Parse("s64[32,128]"), .dimensions = {0}};  // token ids
  findings[0].figures = figures;
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));

  figures.sizes = SizesSeen{.shape = *XlaShape::Parse("s64[111]"), .dimensions = {0}};
  findings[0].figures = figures;
  findings[1].subject.op = "aten::repeat_interleave.Tensor";
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
}

TEST(Causes, AnInputAtTheLineOfAnOpComesFromIt) {
  TimedRun run;
  Findings findings{Recompile(ReasonType::kShapeChange, 60), Fallback("aten::some_new_op")};
  RecompileFigures figures;
  figures.cause.is_input = true;
  figures.cause.location = findings[1].subject.place();
  figures.sizes = SizesSeen{};
  findings[0].figures = figures;
  findings[0].subject.SetPlace(figures.cause.location);
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  figures.cause.library.file = "module.py";  // the line only uses the input first
  findings[0].figures = figures;
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(Causes, AReadExplainsThatItsOwnGraphIsCompiledAgain) {
  TimedRun run;
  const SourcePlace read{.file = "/x/fit.py", .line = 16, .function = "fit"};
  RecompileFigures of_read, of_step;
  of_read.site = {.cut = CutKind::kValueAccess, .place = read};
  of_read.cause.location = of_step.cause.location = {.file = "/x/model.py", .line = 5};
  Findings findings{Recompile(ReasonType::kShapeChange, 60),
                    {.analyzer = &sync_point,
                     .needs_fixing = true,
                     .figures = SyncPointFigures(EarlyReadFigures())},
                    Recompile(ReasonType::kShapeChange, 20)};
  findings[0].figures = of_read;
  findings[1].subject.SetPlace(read);
  findings[2].figures = of_step;
  EXPECT_THAT(Link(run, findings),
              testing::ElementsAre(std::optional<size_t>(2), std::nullopt, std::nullopt))
      << "the step's graph is compiled again for the same change";
  of_step.cause.location.line = 6;
  findings[2].figures = of_step;
  EXPECT_THAT(Link(run, findings),
              testing::ElementsAre(std::optional<size_t>(1), std::nullopt, std::nullopt));
}

TEST(Causes, AnOpOnTheCpuExplainsTheIdleTimeBeforeItsUploads) {
  TimedRun run;
  DeviceGapFigures figures;
  figures.uploads = PreparedUploads{.are_of_fallbacks = true};
  Findings findings{Gap(ReasonType::kNoLowering, 90),
                    Fallback("aten::embedding_renorm_"),
                    {.analyzer = &large_transfer, .count = 902},
                    {.analyzer = &missing_donation, .cost_ns = 7}};
  findings[0].figures = figures;
  findings[0].spent_on = SpentOn::kOnCpu;
  findings[1].count = 600;
  findings[3].subject.SetPlace(findings[1].subject.place());
  const CauseLinks links = Link(run, findings);
  EXPECT_THAT(links, testing::ElementsAre(std::optional<size_t>(1), std::nullopt,
                                          std::optional<size_t>(1), std::optional<size_t>(1)));
  EXPECT_EQ(OrderByCause(std::move(findings), links)[0].total_cost_ns, 43 + 90)
      << "the host is blocked, and runs the op, at different times";
}

TEST(Causes, WaitingForDataExplainsTheIdleTimeMeanwhileWhateverItsReason) {
  TimedRun run;
  Finding gap = Gap(ReasonType::kHostWait, 70);
  gap.figures = DeviceGapFigures{.wait = GapWait::kHostWait, .doing = Doing::kInput};
  Findings findings{gap, {.analyzer = &input_bound, .needs_fixing = true}};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
}

TEST(Causes, AReadExplainsTheCopyThatKeepsTheDeviceWaiting) {
  TimedRun run;
  Finding gap = Gap(ReasonType::kTransfer, 70);
  gap.subject.scope = "dist";
  gap.figures = DeviceGapFigures{.doing = Doing::kTransfer};
  Finding read{.analyzer = &sync_point, .needs_fixing = true, .cost_ns = 700};
  read.subject.scope = "dist";
  Findings findings{gap, read};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  findings[1].subject.scope = "other";
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(Causes, OperationsOutsideOfJitAreCompiledOneByOne) {
  TimedRun run;
  Finding compiled = Recompile(ReasonType::kOutsideJit, 90);
  compiled.figures = OutsideJitFigures{.operations = {.most = {{"add", 9}, {"mul", 6}}}};
  Finding executed{.analyzer = &graph_fragmentation, .cost_ns = 3};
  executed.figures =
      GraphFragmentationFigures(OperationsOutsideJitFigures{.most = {{"mul", 60}, {"add", 50}}});
  Findings findings{compiled, executed};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  // The start, such as the weights' first values, compiles other operations.
  std::any_cast<OutsideJitFigures&>(findings[0].figures).at_start = true;
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(Causes, ATensorThatIsReadExplainsTheWorkAfterIt) {
  TimedRun run;
  Finding gap = Gap(ReasonType::kUserScope, 70);
  DeviceGapFigures figures;
  figures.work = WorkBetweenLines{.before = {.file = "/x/mining.py", .line = 7}};
  gap.figures = figures;
  Finding read{.analyzer = &sync_point,
               .needs_fixing = true,
               .subject = {.file = "/x/mining.py", .line = 7},
               .cost_ns = 10};
  read.figures = SyncPointFigures(EarlyReadFigures{.value = ReadValue::kTensor});
  Findings findings{gap, read};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  // A number is read for a log, and says nothing about the work.
  findings[1].figures = SyncPointFigures(EarlyReadFigures{.value = ReadValue::kNumber});
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(Causes, AReadThatBlocksForLongerThanTheDeviceIdlesExplainsWhyTheHostIsLate) {
  TimedRun run;
  Finding gap = Gap(ReasonType::kSampledLine, 70);
  gap.figures = DeviceGapFigures{.sampled = SampledHost{.samples = 4, .examined = 5}};
  Finding read{.analyzer = &sync_point, .needs_fixing = true, .cost_ns = 10};
  Findings findings{gap, read};
  const auto link = [&](const EarlyReadFigures& early) {
    findings[1].figures = SyncPointFigures(early);
    return Link(run, findings);
  };
  EXPECT_THAT(link({.value = ReadValue::kNumber, .wait_ns = 70}),
              testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  // The host is late without the read, too.
  EXPECT_THAT(link({.value = ReadValue::kNumber, .wait_ns = 69}),
              testing::ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(link({.value = ReadValue::kNumber}),
              testing::ElementsAre(std::nullopt, std::nullopt));
  // The host's work may depend on the tensor.
  EXPECT_THAT(link({.value = ReadValue::kTensor, .wait_ns = 70}),
              testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(Causes, SamplesAtTheLineOfAReadShowTheRead) {
  TimedRun run;
  Finding gap = Gap(ReasonType::kSampledLine, 70);
  gap.figures = DeviceGapFigures{.sampled = SampledHost{.samples = 4, .examined = 5}};
  gap.subject = {.file = "/x/stats.py", .line = 16, .function = "Meter.update"};
  Finding read{.analyzer = &sync_point, .needs_fixing = true, .subject = gap.subject};
  read.subject.function = "update";  // as logs print it
  read.figures = SyncPointFigures(EarlyReadFigures{.value = ReadValue::kTensor});
  Findings findings{gap, read};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  findings[0].subject.line = 17;
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
  // An op without lowering runs on the CPU there.
  findings[1] = Fallback("aten::histc");
  findings[1].needs_fixing = true;
  findings[0].subject = findings[1].subject;
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
}

TEST(Causes, AnOpExplainsItsGradient) {
  TimedRun run;
  Findings findings{Fallback("aten::huber_loss_backward.out"), Fallback("aten::_ctc_loss_backward"),
                    Fallback("aten::huber_loss")};
  EXPECT_THAT(Link(run, findings),
              testing::ElementsAre(std::optional<size_t>(2), std::nullopt, std::nullopt));
}

TEST(Causes, WorkAfterAFetchExplainsTheFetchesAfterStepMarks) {
  TimedRun run;
  Finding gap = Gap(ReasonType::kUserScope, 70);
  gap.needs_fixing = true;
  gap.figures = DeviceGapFigures{.parts_ns = {7, 7, 7}, .fetches = {.gaps = 2}};
  Finding read{.analyzer = &sync_point, .needs_fixing = true};
  const CountedReadFigures counted{.value = ReadValue::kTensor, .after_marks = true};
  read.figures = SyncPointFigures(counted);
  const Finding copies{.analyzer = &large_transfer,
                       .reason = Reason{.type = ReasonType::kFromDevice}};
  Findings findings{gap, read, copies};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::optional<size_t>(0),
                                                        std::optional<size_t>(0)));
  // Most gaps do not follow a fetch.
  findings[0].figures = DeviceGapFigures{.parts_ns = {7, 7, 7}, .fetches = {.gaps = 1}};
  EXPECT_EQ(Link(run, findings)[1], std::nullopt);
  // A number is read for a log.
  findings[0] = gap;
  findings[1].figures =
      SyncPointFigures(CountedReadFigures{.value = ReadValue::kNumber, .after_marks = true});
  EXPECT_EQ(Link(run, findings)[1], std::nullopt);
}

TEST(Causes, AnOpExplainsTheTensorThatComesBackAtOneOfItsLines) {
  TimedRun run;
  Finding read{.analyzer = &sync_point, .subject = {.file = "/x/fold.py", .line = 19}};
  read.figures = SyncPointFigures(EarlyReadFigures{.returned = InputsOfLine()});
  Finding op = Fallback("aten::im2col");
  op.subject.file.reset(), op.subject.line.reset();
  FallbackOpFigures figures;
  figures.candidates = {{.file = "/x/fold.py", .line = 16}, {.file = "/x/fold.py", .line = 19}};
  op.figures = FallbackFigures(figures);
  Findings findings{read, op};
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::optional<size_t>(1), std::nullopt));
  EXPECT_EQ(findings[1].subject.line, 19);
  findings[0].subject.line = 20;
  EXPECT_THAT(Link(run, findings), testing::ElementsAre(std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace xlaprof
