#include "profiler/record/runtime_facts.h"

#include <gmock/gmock.h>

namespace xlaprof::record {
namespace {

TEST(RuntimeFacts, AfterAnErrorOfTheStoreNoneIsLostAndTheirOrderStays) {
  RuntimeFacts& facts = RuntimeFacts::Get();
  facts.Take();
  Store store = *Store::CreateTemporary();
  ASSERT_TRUE(store.Run("DROP TABLE fallback").ok());
  RuntimeFactWriter writer(/*process_id=*/1, /*origin_ns=*/0);
  facts.Add(observe::Fallback{.op = "first"});
  facts.Add(observe::Fallback{.op = "second"});
  EXPECT_FALSE(writer.Write(store).ok());
  facts.Add(observe::Fallback{.op = "third"});
  writer.RolledBack();
  EXPECT_FALSE(writer.has_news());
  std::vector<std::string_view> ops;
  for (const RuntimeFact& fact : facts.Take()) ops.push_back(std::get<observe::Fallback>(fact).op);
  EXPECT_THAT(ops, testing::ElementsAre("first", "second", "third"));
}

// Regression: each step's update read all rows of the process, so that a recording of many short
// steps took longer than the program, and a capture of it was lost.
TEST(RuntimeFacts, AStepIsWrittenInATimeThatDoesNotGrowWithTheRun) {
  RuntimeFacts& facts = RuntimeFacts::Get();
  facts.Take();
  Store store = *Store::CreateTemporary();
  RuntimeFactWriter writer(/*process_id=*/1, /*origin_ns=*/0);
  int64_t work = 0;  // of SQLite, in units of ten instructions
  const auto count = [](void* at) { return ++*static_cast<int64_t*>(at), 0; };
  sqlite3_progress_handler(store.db(), 10, count, &work);
  const auto write_steps = [&] {
    const int64_t before = work;
    for (int i = 0; i < 500; ++i) {
      facts.Add(observe::Execution{.graph_hash = "aa", .cause = "user_sync", .device = "CPU:0"});
      facts.Add(observe::Step{.dur_ns = 1});
    }
    EXPECT_TRUE(writer.Write(store).ok());
    return work - before;
  };
  const int64_t first = write_steps();
  write_steps();
  write_steps();
  EXPECT_LE(write_steps(), 2 * first);
  EXPECT_EQ(*store.One<int64_t>("SELECT count(DISTINCT step_id) FROM execution"), 2000);
}

}  // namespace
}  // namespace xlaprof::record
