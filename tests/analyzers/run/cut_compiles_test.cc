// Tests what is said of recompiles whose file lacks its end.
#include <gtest/gtest.h>

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

// Ten sizes in the first steps are followed by many steps of the last size.
void SizesThatSettle(RecompileRun& run) {
  std::vector<int64_t> sizes(110, 64);
  for (int64_t i = 0; i < 10; ++i) sizes[size_t(i)] = 8 + i;
  BatchesOf(run, sizes, {.dur_ns = 1'000'000'000});
  run.Exec(
      "INSERT INTO source (id, path, imported) VALUES (1, 'cut.log', 1), (2, 'whole.log', 1);"
      "INSERT INTO provenance SELECT 'compile', id, 1, id, id, ordinal FROM compile");
}

void Cut(RecompileRun& run, std::string_view offset) {
  run.Exec(
      fmt::format("DELETE FROM import_issue;"
                  "INSERT INTO import_issue VALUES (1, 'cut_file', 'warning', 1, {}, 1, 'cut')",
                  offset));
}

TEST(CutCompiles, NobodyKnowsWhetherTheyWentOn) {
  RecompileRun run;
  SizesThatSettle(run);
  const Finding whole = run.TheFinding();
  EXPECT_EQ(whole.reason->state, State::kSettled);
  for (std::string_view offset : {"NULL", "1000000"}) {
    Cut(run, offset);
    const Finding cut = run.TheFinding();
    EXPECT_EQ(cut.reason->state, State::kUnknown);
    EXPECT_FALSE(cut.reason->step);
    // The finding keeps the severity of what was seen.
    EXPECT_EQ(cut.severity, whole.severity);
  }
}

TEST(CutCompiles, SomethingMayBeMissingInTheMiddle) {
  RecompileRun run;
  SizesThatSettle(run);
  Cut(run, "2");
  EXPECT_EQ(run.TheFinding().reason->state, State::kSettled);
}

TEST(CutCompiles, AWholeFileShowsOneOfThem) {
  RecompileRun run;
  SizesThatSettle(run);
  Cut(run, "NULL");
  run.Exec("INSERT INTO provenance SELECT 'compile', max(id), 2, 0, 1, 0 FROM compile");
  EXPECT_EQ(run.TheFinding().reason->state, State::kSettled);
}

TEST(CutCompiles, StillGoOnWhereTheFileEnds) {
  RecompileRun run;
  BatchesOf(run, {64, 64, 64, 48, 17, 33, 9, 25}, {.dur_ns = 1'000'000'000});
  run.Exec("INSERT INTO provenance SELECT 'compile', id, 1, id, id, ordinal FROM compile");
  Cut(run, "NULL");
  EXPECT_EQ(run.TheFinding().reason->state, State::kOngoing);
}

}  // namespace
}  // namespace xlaprof
