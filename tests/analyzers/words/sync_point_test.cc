// Tests the wording of sync_point findings.
#include "analyzers/sync_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SyncPointWords, ReadsWithoutALineMayBeSeveral) {
  const auto say = [](const Subject& subject, int64_t graphs) {
    Finding finding{.subject = subject, .count = 120};
    finding.figures = SyncPointFigures(EarlyReadFigures{.graphs = graphs});
    return SaySyncPoint(finding, Framework::kPytorchXla);
  };
  EXPECT_THAT(say({}, 2).why, HasSubstr("They evaluate 2 different graphs"));
  EXPECT_THAT(say({}, 1).why, Not(HasSubstr("different graphs")));
  EXPECT_EQ(say({}, 1).unseen->what, "the lines");
  EXPECT_FALSE(say({.file = "/x/train.py", .line = 3}, 2).unseen);
}

TEST(SyncPointWords, AReadIsNamedAsInTheProgramsLanguage) {
  Finding finding{.count = 12, .per_step = 1};
  finding.figures = SyncPointFigures(
      EarlyReadFigures{.value = ReadValue::kNumber, .shape = XlaShape::Parse("f32[]")});
  EXPECT_EQ(SaySyncPoint(finding, Framework::kUnknown).title,
            "a Python number is read (f32[]) before the step mark, 12 times (1 a step)");
  EXPECT_THAT(SaySyncPoint(finding, Framework::kUnknown).advice, HasSubstr("torch.where"));
  EXPECT_EQ(SaySyncPoint(finding, Framework::kCpp).title,
            "a number is read (f32[]) before the step mark, 12 times (1 a step)");
  EXPECT_THAT(SaySyncPoint(finding, Framework::kCpp).advice,
              HasSubstr("Use where(condition, a, b) instead of an if on the value."));
}

// Regression: a part was larger than the whole, "31.4 ms: time that the host was blocked, and 65.4 ms
// for nodes that run again".
TEST(SyncPointWords, TheCostNamesItsParts) {
  Finding finding{.count = 80, .cost_ns = 31'400'000, .saving_ns = 31'400'000};
  EarlyReadFigures figures{
      .nodes = 9, .wait_ns = 101'000'000, .waits_measured = 68, .again_ns = 65'400'000};
  figures.is_limited = true;
  finding.figures = SyncPointFigures(figures);
  EXPECT_EQ(
      SaySyncPoint(finding, Framework::kPytorchXla).cost_note,
      "the host was blocked for 101 ms, measured for 68 of 80 reads, and nodes that run again at the step mark took 65.4 ms; the rest of this is work of the device for which the host would wait anyway");
  figures = {.nodes = 9, .wait_ns = 31'400'000, .waits_measured = 80, .again_ns = 0};
  figures.runs_nothing_again = true;
  finding.figures = SyncPointFigures(figures);
  const Words words = SaySyncPoint(finding, Framework::kPytorchXla);
  EXPECT_EQ(words.cost_note, "time that the host was blocked");
  EXPECT_EQ(words.saving_note, "the host no longer waits");
  EXPECT_THAT(words.why, Not(HasSubstr("run again")));
}

TEST(SyncPointWords, FetchesAreCountedInStepsElseInExecutions) {
  CountedReadFigures figures{.counted = CountedReadFigures::Counted::kFetches,
                             .value = ReadValue::kNumber,
                             .executions = 265,
                             .fetches = 264,
                             .fetch_metric = "InboundData"};
  Finding finding{.count = 264};
  finding.figures = SyncPointFigures(figures);
  Words words = SaySyncPoint(finding, Framework::kUnknown);
  EXPECT_EQ(words.title, "a number is fetched from the device, 264 times in 265 executions");
  EXPECT_THAT(words.evidence, ElementsAre("InboundData has 264 values"));
  finding.per_step = 2;
  EXPECT_EQ(SaySyncPoint(finding, Framework::kUnknown).title,
            "a number is fetched from the device, 264 times (2 a step)");
  figures.value = ReadValue::kTensor;
  figures.goes_on = false;
  finding.per_step.reset();
  finding.figures = SyncPointFigures(figures);
  EXPECT_EQ(
      SaySyncPoint(finding, Framework::kUnknown).title,
      "a tensor is fetched from the device, 264 times, and not again in the steps that the log covers");
}

TEST(SyncPointWords, AnOperationIsToldWithItsTimes) {
  Finding finding{.subject = {.op = "aten::item"}, .count = 8, .per_step = 1, .cost_ns = 16'000};
  finding.evidence.push_back({.table = "event", .ts_ns = 0, .dur_ns = 80'000});
  finding.figures = SyncPointFigures(ReadOperationFigures{.blocked_ns = 640'000});
  Words words = SaySyncPoint(finding, Framework::kUnknown);
  EXPECT_EQ(words.title, "aten::item waits for the device to read a number, 8 times (1 a step)");
  EXPECT_THAT(words.evidence, ElementsAre("aten::item of 80 us"));
  EXPECT_THAT(words.cost_note, Not(HasSubstr("idles")));
  finding.figures =
      SyncPointFigures(ReadOperationFigures{.blocked_ns = 640'000, .device_idle_ns = 16'000});
  EXPECT_THAT(
      SaySyncPoint(finding, Framework::kUnknown).cost_note,
      HasSubstr("at most its share of the 16 us in which the device is idle in the steady steps"));
}

}  // namespace
}  // namespace xlaprof
