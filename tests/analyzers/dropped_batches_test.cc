#include "analyzers/dropped_batches.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer dropped_batches;

namespace {

const DroppedBatchesFigures& DroppedFiguresOf(const Finding& finding) {
  return std::any_cast<const DroppedBatchesFigures&>(finding.figures);
}

// Two epochs at line 12 drop batches, one drops none, and one has no step. The loader at line 20
// drops a smaller share.
TEST(DroppedBatches, AreCountedByLine) {
  TimedRun run;
  run.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, 'main', 'train.cc', 12), "
      "(2, 'main', 'train.cc', 20);"
      "INSERT INTO loader_epoch (process_id, ordinal, devices, batches, dropped, site_id) VALUES "
      "(1, 0, 4, 11, 3, 1), (1, 1, 4, 9, 1, 1), (1, 2, 4, 8, 0, 1), (1, 3, 4, 2, 2, 1), "
      "(1, 4, 2, 101, 1, 2)");
  const Findings found = run.Run(dropped_batches);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kLastBatches);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.line, 12);
  EXPECT_EQ(found[0].count, 4);
  EXPECT_EQ(DroppedFiguresOf(found[0]).epochs, 2);
  EXPECT_EQ(DroppedFiguresOf(found[0]).of_epochs, 4);
  EXPECT_EQ(DroppedFiguresOf(found[0]).batches, 20);
  EXPECT_EQ(DroppedFiguresOf(found[0]).devices, 4);
  EXPECT_EQ(found[1].reason->type, ReasonType::kEmptyEpoch);
  EXPECT_EQ(found[1].severity, Severity::kWarning);
  EXPECT_EQ(found[1].count, 2);
  EXPECT_EQ(DroppedFiguresOf(found[1]).epochs, 1);
  EXPECT_EQ(DroppedFiguresOf(found[1]).batches, 2);
  EXPECT_EQ(found[2].severity, Severity::kInfo);
  EXPECT_EQ(found[2].subject.line, 20);
}

TEST(DroppedBatches, Empty) { EXPECT_TRUE(TimedRun().Run(dropped_batches).empty()); }

}  // namespace
}  // namespace xlaprof
