// Values that readers of a store share.
#include <gtest/gtest.h>

#include "profiler/store/store.h"

namespace xlaprof {
namespace {

TEST(Derived, MadeOnceUntilTheStoreChanges) {
  Store store = Store::CreateTemporary().value();
  ASSERT_TRUE(store.Add(RunRow{.label = "a", .why = ""}).ok());
  int made = 0;
  auto count = [&] {
    return **store.Derived<int64_t>("runs", [&]() -> absl::StatusOr<int64_t> {
      ++made;
      XP_TRY(auto n, store.One<int64_t>("SELECT count(*) FROM run"));
      return *n;
    });
  };
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(made, 1);
  ASSERT_TRUE(store.Add(RunRow{.label = "b", .why = ""}).ok());
  EXPECT_EQ(count(), 2);
  ASSERT_TRUE(store.Restrict({.from_ns = 0}).ok());
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(made, 3);
}

TEST(Derived, AnErrorIsNotKept) {
  Store store = Store::CreateTemporary().value();
  auto fails = store.Derived<int>("x", []() -> absl::StatusOr<int> { return Invalid("no"); });
  EXPECT_FALSE(fails.ok());
  auto works = store.Derived<int>("x", []() -> absl::StatusOr<int> { return 3; });
  ASSERT_TRUE(works.ok());
  EXPECT_EQ(**works, 3);
}

}  // namespace
}  // namespace xlaprof
