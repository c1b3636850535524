// Tests which scopes were open when recorded processes were killed, and how they are told.
#include <gmock/gmock.h>

#include "analyzers/open_scopes_text.h"
#include "analyzers/run/scopes.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;

class ScopesAtAKill : public testing::Test {
 protected:
  ScopesAtAKill() : store_(Store::CreateTemporary().value()) {
    Exec(
        "INSERT INTO run (id, label, selected, why) VALUES (1, 'r', 1, '');"
        "INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'a', 'recording', 1, 'timed')");
  }
  void Exec(const std::string& sql) {
    const absl::Status status = store_.Exec(sql);
    ASSERT_TRUE(status.ok()) << status;
  }
  void Process(int64_t id, OptInt rank, bool is_recorded = true) {
    store_
        .Add(ProcessRow{.id = id,
                        .run_id = 1,
                        .source_id = 1,
                        .pid = 100 + id,
                        .rank = rank,
                        .name = "trainer"})
        .value();
    if (!is_recorded) return;
    Exec(fmt::format(
        "INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES ({}, 'r', '00', 1, 'tsc')",
        id));
  }
  int64_t Thread(int64_t process, const std::string& name, int64_t tid) {
    return store_
        .Add(TrackRow{
            .process_id = process, .kind = TrackKind::kHostThread, .name = name, .tid = tid})
        .value();
  }
  // Adds a scope that was open for `open_ms`, or one that ended.
  void Scope(int64_t track, const std::string& name, int64_t ts_ms, OptInt open_ms,
             int64_t dur_ms = 1) {
    EventWriter writer(store_);
    const Event event{.ts_ns = ts_ms * 1'000'000,
                      .dur_ns = open_ms ? kUnknownDuration : dur_ms * 1'000'000,
                      .name = store_.Intern(name).value(),
                      .category = store_.Intern("scope").value()};
    ASSERT_TRUE(writer.Add(track, event).ok());
    if (open_ms) writer.Arg(store_.Intern(kOpenNsArgument).value(), *open_ms * 1'000'000);
    ASSERT_TRUE(writer.Flush().ok());
  }
  std::vector<std::string> Lines() {
    const xlaprof::Run run(store_);
    return KilledScopesTexts(**run.Get<KilledScopes>());
  }
  Store store_;
};

TEST_F(ScopesAtAKill, OutermostFirst) {
  Process(1, {});
  const int64_t main = Thread(1, "main", 101), loader = Thread(1, "loader", 7);
  Scope(loader, "load", 900, 100);
  Scope(main, "done", 0, {});
  Scope(main, "epoch", 100, 900);
  Scope(main, "train", 500, 500);
  Scope(main, "allreduce", 600, 400);
  Exec(
      "INSERT INTO step (process_id, ordinal, number, name, ts_ns) VALUES (1, 0, 41, 'train', 500000000)");
  EXPECT_THAT(Lines(),
              ElementsAre("thread main: epoch (900 ms) > train 41 (500 ms) > allreduce (400 ms)",
                          "thread loader: load (100 ms)"));
}

TEST_F(ScopesAtAKill, RanksInOrder) {
  for (const int64_t id : {1, 2, 3}) {
    Process(id, 3 - id);
    Scope(Thread(id, "main", 100 + id), fmt::format("scope {}", id), 0, 10);
  }
  EXPECT_THAT(Lines(), ElementsAre("rank 0 (pid 103), thread main: scope 3 (10 ms)",
                                   "rank 1 (pid 102), thread main: scope 2 (10 ms)",
                                   "rank 2 (pid 101), thread main: scope 1 (10 ms)"));
}

// The end of such an event is not in its file, or the program left the scope open itself.
TEST_F(ScopesAtAKill, NoneIfNobodySaysThatTheProcessWasKilled) {
  Process(1, {});
  Process(2, {}, /*is_recorded=*/false);
  EventWriter writer(store_);
  const Event event{.dur_ns = kUnknownDuration,
                    .name = store_.Intern("open").value(),
                    .category = store_.Intern("scope").value()};
  ASSERT_TRUE(writer.Add(Thread(1, "main", 101), event).ok());
  ASSERT_TRUE(writer.Flush().ok());
  Scope(Thread(2, "main", 102), "of another format", 0, 10);
  EXPECT_THAT(Lines(), ElementsAre());
}

TEST(OpenScopesText, LeavesOutTheMiddleOfMany) {
  std::vector<OpenScope> scopes;
  for (int i = 0; i < 40; ++i) scopes.push_back({.name = fmt::format("{}", i)});
  EXPECT_EQ(OpenScopesText(scopes),
            "0 > 1 > 2 > 3 > 4 > 5 > 6 > 7 > (24 more) > 32 > 33 > 34 > 35 > 36 > 37 > 38 > 39");
  EXPECT_EQ(OpenScopesText(std::span(scopes).first(17)),
            "0 > 1 > 2 > 3 > 4 > 5 > 6 > 7 > 8 > 9 > 10 > 11 > 12 > 13 > 14 > 15 > 16");
  EXPECT_EQ(OpenThreadText({.name = "thread 12", .tid = 12, .ended = true}),
            "thread 12, which has ended");
}

}  // namespace
}  // namespace xlaprof
