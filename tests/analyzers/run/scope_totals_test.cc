// Tests the sums of the scopes of a program that recorded itself.
#include <gtest/gtest.h>

#include "analyzers/run/scopes.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

class ScopeSums : public testing::Test {
 protected:
  ScopeSums() {
    run_.Exec(
        "INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'r.ring', '00', 1, 'tsc')");
  }
  ScopeTotals Totals() {
    const xlaprof::Run run(run_.store());
    return **run.Get<ScopeTotals>();
  }
  void Scope(int64_t track, std::string_view name, int64_t ts_us, int64_t dur_us) {
    run_.Event(track, TextOf(Category::kScope), name, ts_us, dur_us);
  }
  TimedRun run_;
};

TEST_F(ScopeSums, SelfIsWithoutWhatIsNested) {
  const int64_t a = run_.HostThread("a"), b = run_.HostThread("b");
  run_.Step(a, 0, 1000);
  Scope(a, "forces", 0, 600);
  Scope(a, "join", 100, 200);
  run_.Event(a, TextOf(Category::kHost), "malloc", 150, 50);
  Scope(b, "forces", 0, 100);
  const ScopeTotals totals = Totals();
  ASSERT_EQ(totals.longest.size(), 2u);
  EXPECT_EQ(totals.longest[0].name, "forces");
  EXPECT_EQ(totals.longest[0].count, 2);
  EXPECT_EQ(totals.longest[0].total_ns, 700'000);
  EXPECT_EQ(totals.longest[0].self_ns, 500'000);
  EXPECT_EQ(totals.longest[1].name, "join");
  EXPECT_EQ(totals.longest[1].self_ns, 150'000);
  EXPECT_EQ(totals.others, 0);
}

// A scope that is open inside one of the same name does not count twice.
TEST_F(ScopeSums, Recursion) {
  const int64_t a = run_.HostThread();
  Scope(a, "visit", 0, 300);
  Scope(a, "visit", 100, 100);
  Scope(a, "visit", 400, 50);
  const ScopeTotals totals = Totals();
  ASSERT_EQ(totals.longest.size(), 1u);
  EXPECT_EQ(totals.longest[0].count, 3);
  EXPECT_EQ(totals.longest[0].total_ns, 350'000);
  EXPECT_EQ(totals.longest[0].self_ns, 350'000);
}

TEST_F(ScopeSums, OnlyTheLongestAreNamed) {
  const int64_t a = run_.HostThread();
  for (int i = 0; i < 15; ++i) Scope(a, fmt::format("scope {}", i), i * 100, 50 + i);
  const ScopeTotals totals = Totals();
  ASSERT_EQ(totals.longest.size(), 12u);
  EXPECT_EQ(totals.longest[0].name, "scope 14");
  EXPECT_EQ(totals.others, 3);
}

TEST_F(ScopeSums, NothingForCapturesOfOthers) {
  run_.Exec("DELETE FROM recording");
  Scope(run_.HostThread(), "forward", 0, 300);
  EXPECT_TRUE(Totals().longest.empty());
}

}  // namespace
}  // namespace xlaprof
