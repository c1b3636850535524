// Tests on which ranks of a job a finding is said to hold.
#include "analyzers/run/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/words/ranks.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;

// Two ranks compile `step`, each in a trace of its own, and rank 1 also in a log.
class RanksOfAJob : public testing::Test {
 protected:
  RanksOfAJob() {
    Exec(
        "INSERT INTO source (id, path, format, imported) VALUES (1, 'a', 'trace', 1), (2, 'b', "
        "'trace', 1), (3, 'c', 'log', 1);"
        "INSERT INTO process (id, segment, rank) VALUES (5, 0, 0), (6, 0, 1);"
        "INSERT INTO compile (id, process_id, ordinal, function, inferred) VALUES "
        "(1, 5, 0, 'step', 0), (2, 6, 0, 'step', 0), (3, 6, 1, 'step', 0);"
        "INSERT INTO provenance (table_name, row_id, source_id) VALUES ('compile', 1, 1), "
        "('compile', 2, 2), ('compile', 3, 2), ('compile', 3, 3)");
  }
  void Exec(const std::string& sql) {
    const absl::Status status = store_.Exec(sql);
    ASSERT_TRUE(status.ok()) << Message(status) << "\n" << sql;
  }
  std::string Text(const std::set<int64_t>& processes, const std::set<std::string>& formats,
                   const std::string& function = "step") const {
    const xlaprof::Run run(store_);
    const auto ranks = run.Get<Ranks>();
    EXPECT_TRUE(ranks.ok());
    return RanksText((*ranks)->Only(processes, function, formats));
  }
  Store store_ = Store::CreateTemporary().value();
};

TEST_F(RanksOfAJob, OnOneOfThem) {
  EXPECT_EQ(Text({6}, {"trace"}), " (only on rank 1 of 2 ranks)");
  EXPECT_EQ(Text({6}, {"trace", "log"}), " (only on rank 1 of 2 ranks)");
}

TEST_F(RanksOfAJob, NothingIsSaidOfAllOrOfUnknownRanks) {
  EXPECT_EQ(Text({5, 6}, {"trace"}), "");
  // The log would not show rank 0, or another function.
  EXPECT_EQ(Text({6}, {"log"}), "");
  EXPECT_EQ(Text({6}, {"trace"}, "evaluate"), "");
  Exec("INSERT INTO process (id, segment) VALUES (7, 0)");
  EXPECT_EQ(Text({7}, {"trace"}), "");
  // A third rank compiled nothing that was seen.
  Exec("INSERT INTO process (id, segment, rank) VALUES (8, 0, 2)");
  EXPECT_EQ(Text({6}, {"trace"}), "");
}

TEST_F(RanksOfAJob, AnotherRankMayHaveItBehindTheEndOfItsFile) {
  Exec("INSERT INTO import_issue VALUES (1, 'cut_file', 'warning', 1, NULL, NULL, 'cut')");
  EXPECT_EQ(Text({6}, {"trace"}), "");
}

TEST_F(RanksOfAJob, FormatsThatShowAllCompiles) {
  const xlaprof::Run run(store_);
  const auto ranks = run.Get<Ranks>();
  ASSERT_TRUE(ranks.ok());
  const std::vector<int64_t> both = {2, 3}, last = {3};
  EXPECT_THAT((*ranks)->FormatsOf(both), ElementsAre("trace"));
  EXPECT_THAT((*ranks)->FormatsOf(last), ElementsAre("log", "trace"));
}

}  // namespace
}  // namespace xlaprof
