#include "analyzers/untied_weights.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer untied_weights;

namespace {

const UntiedWeightsFigures& UntiedFiguresOf(const Finding& finding) {
  return std::any_cast<const UntiedWeightsFigures&>(finding.figures);
}

TEST(UntiedWeights, AreFoundAtTheLineOfTheMove) {
  TimedRun run;
  run.Exec(
      "INSERT INTO site (id, function, file, line) VALUES (1, 'main', 'train.cc', 12);"
      "INSERT INTO untied_weight (id, process_id, ordinal, names, copies, bytes, device, site_id) VALUES (1, 1, 0, 'encoder.weight, decoder.weight', 2, 4000, "
      "'CPU:0', 1), (2, 1, 1, 'a, b, c', 3, 1000, NULL, NULL)");
  const Findings found = run.Run(untied_weights);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(UntiedFiguresOf(found[0]).names, "encoder.weight, decoder.weight");
  EXPECT_EQ(UntiedFiguresOf(found[0]).device, "CPU:0");
  EXPECT_EQ(UntiedFiguresOf(found[0]).bytes, 4000);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.file, "train.cc");
  EXPECT_EQ(found[0].subject.line, 12);
  EXPECT_EQ(found[0].reason->type, ReasonType::kTiedBeforeMove);
  EXPECT_FALSE(found[0].cost_ns);
  EXPECT_EQ(found[1].count, 3);
  EXPECT_EQ(UntiedFiguresOf(found[1]).bytes, 1000);
  EXPECT_EQ(UntiedFiguresOf(found[1]).device, std::nullopt);
  EXPECT_FALSE(found[1].subject.line);
}

TEST(UntiedWeights, Empty) { EXPECT_TRUE(TimedRun().Run(untied_weights).empty()); }

}  // namespace
}  // namespace xlaprof
