#include <gmock/gmock.h>

#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer untied_weights;

namespace {

using ::testing::HasSubstr;

TEST(UntiedWeights, AreFoundAtTheLineOfTheMove) {
  TimedRun run;
  run.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, 'main', 'train.cc', 12);"
      "INSERT INTO untied_weight (id, process_id, ordinal, names, copies, bytes, device, site_id) VALUES (1, 1, 0, 'encoder.weight, decoder.weight', 2, 4000, "
      "'CPU:0', 1), (2, 1, 1, 'a, b, c', 3, 1000, NULL, NULL)");
  const Findings found = run.Run(untied_weights);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].words.title,
            "encoder.weight, decoder.weight were one tensor, and are 2 since the move to CPU:0");
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.file, "train.cc");
  EXPECT_EQ(found[0].subject.line, 12);
  EXPECT_EQ(found[0].reason->type, ReasonType::kTiedBeforeMove);
  EXPECT_THAT(found[0].words.cost_note, HasSubstr("4 KB more on CPU:0"));
  EXPECT_FALSE(found[0].cost_ns);
  EXPECT_EQ(found[1].count, 3);
  EXPECT_THAT(found[1].words.cost_note, HasSubstr("2 KB more on the device"));
  EXPECT_FALSE(found[1].subject.line);
}

TEST(UntiedWeights, Empty) { EXPECT_TRUE(TimedRun().Run(untied_weights).empty()); }

}  // namespace
}  // namespace xlaprof
