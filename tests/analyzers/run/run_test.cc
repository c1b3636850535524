// Tests facts of a run: they are computed once, can be set by hand, and cover the whole run or its
// slice.
#include "analyzers/run/run.h"

#include <gtest/gtest.h>

#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

struct Counted {
  int64_t steps = 0;
  static int made;
  static absl::StatusOr<Counted> Of(const Run& run) {
    ++made;
    XP_TRY(std::vector<StepRow> steps, run.Rows<StepRow>());
    return Counted{int64_t(steps.size())};
  }
};
int Counted::made = 0;

struct OfProcess {
  int64_t process_id = 0;
  static absl::StatusOr<OfProcess> Of(const Run&, int64_t process_id) {
    if (process_id < 0) return Invalid("no such process");
    return OfProcess{process_id};
  }
};

class RunFacts : public testing::Test {
 protected:
  void SetUp() override {
    for (int64_t ordinal : {0, 1, 2}) {
      ASSERT_TRUE(
          store_
              .Add(StepRow{
                  .process_id = 1, .ordinal = ordinal, .ts_ns = ordinal * 100, .dur_ns = 50})
              .ok());
    }
  }
  Store store_ = Store::CreateTemporary().value();
};

TEST_F(RunFacts, AreComputedOnce) {
  const xlaprof::Run run(store_);
  Counted::made = 0;
  const Counted* first = run.Get<Counted>().value();
  EXPECT_EQ(first->steps, 3);
  EXPECT_EQ(run.Get<Counted>().value(), first);
  EXPECT_EQ(Counted::made, 1);
}

TEST_F(RunFacts, OfProcessesAreKeptApartAndErrorsAreNotKept) {
  const xlaprof::Run run(store_);
  EXPECT_EQ(run.Get<OfProcess>(1).value()->process_id, 1);
  EXPECT_EQ(run.Get<OfProcess>(2).value()->process_id, 2);
  EXPECT_FALSE(run.Get<OfProcess>(-1).ok());
  EXPECT_FALSE(run.Get<OfProcess>(-1).ok());
}

TEST_F(RunFacts, AreSetByHand) {
  xlaprof::Run run(store_);
  run.Set(Steps{.warm_up = 7});
  run.Set(OfProcess{.process_id = 40}, 4);
  EXPECT_EQ(run.Get<Steps>().value()->warm_up, 7);
  EXPECT_EQ(run.Get<OfProcess>(4).value()->process_id, 40);
}

TEST_F(RunFacts, OfTheWholeRunIgnoreTheSlice) {
  ASSERT_TRUE(store_.Restrict({.first_step = 1, .last_step = 1}).ok());
  const xlaprof::Run run(store_);
  EXPECT_EQ(run.Get<Counted>().value()->steps, 1);
  EXPECT_EQ(run.whole().Get<Counted>().value()->steps, 3);
  EXPECT_TRUE(run.slice().is_part_of_time());
  EXPECT_TRUE(run.whole().slice().empty());
}

TEST_F(RunFacts, GraphsOfOneHashAreFormsOfOne) {
  ASSERT_TRUE(store_.Add(GraphRow{.id = 5, .hash = "ab"}).ok());
  ASSERT_TRUE(store_.Add(GraphRow{.id = 6}).ok());
  ASSERT_TRUE(store_.Add(GraphRow{.id = 7, .hash = "ab"}).ok());
  const xlaprof::Run run(store_);
  const Graphs* graphs = run.Get<Graphs>().value();
  ASSERT_EQ(graphs->FormsOf(7).size(), 2u);
  EXPECT_EQ(graphs->FormsOf(7)[0]->id, 5);
  EXPECT_EQ(graphs->FormsOf(6).size(), 1u);
  EXPECT_EQ(graphs->IdentityOf(5), graphs->IdentityOf(7));
  EXPECT_NE(graphs->IdentityOf(6), graphs->IdentityOf(8));
  EXPECT_FALSE(graphs->IdentityOf({}));
  EXPECT_EQ(graphs->HashOf(7), "ab");
  EXPECT_FALSE(graphs->HashOf(6));
  EXPECT_TRUE(graphs->FormsOf(8).empty());
  EXPECT_TRUE(graphs->FormsOf({}).empty());
}

TEST(SitesTest, TheMostFrequentIsTheFirstOfEquals) {
  const Sites sites{.by_id = {{1, {.id = 1, .file = "a.py"}}, {2, {.id = 2, .file = "b.py"}}}};
  EXPECT_EQ(sites.MostFrequent({{1, 3}, {2, 4}}).file, "b.py");
  EXPECT_EQ(sites.MostFrequent({{1, 4}, {2, 4}}).file, "a.py");
  EXPECT_FALSE(sites.MostFrequent({}).file);
}

}  // namespace
}  // namespace xlaprof
