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

}  // namespace
}  // namespace xlaprof::record
