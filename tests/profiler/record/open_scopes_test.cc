// Tests scopes that end out of turn, on other threads, after their threads, or not at all. Each is
// recorded once, and the scopes around them keep their right depths.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <memory>
#include <thread>

#include "core/observe/observer.h"
#include "profiler/record/current.h"
#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "tests/profiler/record/recorded.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;

using OpenScopes = Record;

constexpr const char* kScopes =
    "SELECT name || ' ' || depth || iif(dur_ns IS NULL, ' open', '') FROM event ORDER BY ts_ns, "
    "depth";

// Regression: when the block around the scope had ended, the thread's ring was freed, and written
// to later.
TEST_F(OpenScopes, OneMayOutliveTheBlockAroundItAndTheThread) {
  auto recording = StartRecording(path_);
  std::unique_ptr<Trace> request;
  std::thread([&] {
    XLAPROF_TRACE("job");
    request = std::make_unique<Trace>("request");
  }).join();
  request->Arg("size", 1);
  request.reset();
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->events, 2);
  EXPECT_EQ(stats->dropped, 0);
  EXPECT_THAT(Rows("SELECT name || ' ' || (dur_ns IS NULL) FROM event ORDER BY name"),
              ElementsAre("job 0", "request 0"));
}

TEST_F(OpenScopes, OneMayOutliveItsRecordingAndTheThread) {
  std::unique_ptr<Trace> request;
  std::thread([&] {
    auto recording = StartRecording(path_);
    request = std::make_unique<Trace>("request");
    EXPECT_TRUE(recording->Stop().ok());
  }).join();
  request->Arg("size", 1);
  request.reset();
  EXPECT_THAT(Rows(kScopes), ElementsAre("request 0 open"));
}

// Regression: a variable that holds the phase of the work begins the next phase before the last one
// ends.
TEST_F(OpenScopes, PhasesThatOverlapAreToldOnce) {
  auto recording = StartRecording(path_);
  std::unique_ptr<Trace> phase;
  for (const char* name : {"load", "train", "save"}) phase = std::make_unique<Trace>(name);
  phase.reset();
  {
    XLAPROF_TRACE("after");
  }
  phase = std::make_unique<Trace>("last");
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows(kScopes), ElementsAre("load 0", "train 1", "save 2", "after 0", "last 0 open"));
}

TEST_F(OpenScopes, ThoseThatEndElsewhereAreNoLongerAroundOthers) {
  auto recording = StartRecording(path_);
  std::vector<std::unique_ptr<Trace>> requests;
  for (int i = 0; i < 100; ++i) requests.push_back(std::make_unique<Trace>("request"));
  std::thread([&] { requests.clear(); }).join();
  {
    XLAPROF_TRACE("outermost");
  }
  XLAPROF_TRACE("never ends");
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name || ' ' || depth || iif(dur_ns IS NULL, ' open', '') FROM event "
                   "WHERE name <> 'request' ORDER BY ts_ns"),
              ElementsAre("outermost 0", "never ends 0 open"));
  EXPECT_THAT(Rows("SELECT count(*) || ' ' || count(dur_ns) FROM event WHERE name = 'request'"),
              ElementsAre("100 100"));
}

void Recurse(int depth) {
  XLAPROF_TRACE("deep");
  if (depth > 1) Recurse(depth - 1);
}

TEST_F(OpenScopes, DeepOnesEndInTurn) {
  auto recording = StartRecording(path_);
  for (int i = 0; i < 2; ++i) {
    Recurse(200);
    XLAPROF_TRACE("flat");
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT max(depth) || ' ' || count(dur_ns) FROM event GROUP BY name ORDER BY 1"),
              ElementsAre("0 2", "199 400"));
}

// Regression: scopes that ended while the recording was being stopped were in no table.
TEST_F(OpenScopes, ThoseThatEndWhileItIsStoppedAreToldOnce) {
  for (int round = 0; round < 10; ++round) {
    path_ = folder_ / fmt::format("{}.xlaprof", round);
    auto recording = StartRecording(path_);
    std::atomic<int64_t> begun{0};
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        while (!done) {
          const bool on = record::recording.load() != 0;
          XLAPROF_TRACE("scope");
          // If recording was off in between, the scope may belong to either recording.
          if (on && record::recording.load() != 0) ++begun;
          usleep(2000);
        }
      });
    }
    usleep(30'000);
    ASSERT_TRUE(recording->Stop().ok());
    done = true;
    for (std::thread& thread : threads) thread.join();
    auto store = Store::Open(path_);
    const auto told = *store->One<int64_t>("SELECT count(*) FROM event").value();
    EXPECT_GE(told, begun);
    EXPECT_LE(told, begun + 8);
  }
}

// Regression: a program hung in its first step and was killed, but `recover` reported no open
// scope.
TEST_F(OpenScopes, TheOnlyOneOfAKilledProgramIsTaken) {
  EXPECT_EQ(InChild([&] {
              auto recording = StartRecording(path_);
              {
                XLAPROF_TRACE("done");
              }
              XLAPROF_TRACE("hangs");
              usleep(300'000);
              if (!CommitRecording().ok()) return 1;
              raise(SIGKILL);
              return 2;
            }),
            -SIGKILL);
  auto recovered = RecoverRecording(path_);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_EQ(recovered->events, 1);
  EXPECT_THAT(Rows(kScopes), ElementsAre("done 0", "hangs 0 open"));
  // For how long it had been open at the last sign of the process.
  EXPECT_THAT(
      Rows("SELECT e.name || ' ' || a.key || ' ' || (a.value BETWEEN 2e8 AND 6e11) FROM arg "
           "a JOIN event e ON e.id = a.event_id WHERE a.key LIKE 'open%'"),
      ElementsAre("hangs open_ns 1"));
}

// Such a recording has an end, so nobody knows for how long the scope would have been open.
TEST_F(OpenScopes, OnlyAKillIsAKill) {
  auto recording = StartRecording(path_);
  XLAPROF_TRACE("open");
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT key FROM arg WHERE key = 'open_ns'"), ElementsAre());
}

TEST_F(OpenScopes, OneOfTheRuntimesStepsIsNoStepOfTheRecording) {
  static observe::Site site{Category::kStep, "StepTrace"};
  auto recording = StartRecording(path_);
  {
    XLAPROF_STEP("train", 42);
  }
  observe::Scope scope(site);
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT number || '' FROM step"), ElementsAre("42"));
}

TEST_F(OpenScopes, ASegmentIsKeptForThoseThatItsThreadLeftOpen) {
  auto recording = StartRecording(path_);
  auto leave_open = [](const char* name) {
    std::unique_ptr<Trace> open;
    std::thread([&] { open = std::make_unique<Trace>(name); }).join();
    return open;
  };
  auto ends_later = leave_open("ends later"), open = leave_open("open");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(CommitRecording().ok());
    std::thread([] { XLAPROF_TRACE("other"); }).join();
  }
  ends_later.reset();
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name || ' ' || count(*) || ' ' || count(dur_ns) FROM event GROUP BY "
                   "name ORDER BY 1"),
              ElementsAre("ends later 1 1", "open 1 0", "other 3 3"));
}

// A thread's table of known names is destroyed before its other objects.
TEST_F(OpenScopes, AThreadsOwnObjectsMayRecordWhenTheyAreDestroyed) {
  struct Cleaner {
    ~Cleaner() {
      for (int i = 0; i < 40; ++i) Trace(fmt::format("cleanup {}", i));
    }
  };
  auto recording = StartRecording(path_);
  std::thread([] {
    {
      XLAPROF_TRACE("ring of this thread");
    }
    thread_local Cleaner cleaner;
    (void)&cleaner;
    for (int i = 0; i < 40; ++i) Trace(fmt::format("dynamic {}", i));
  }).join();
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->events, 81);
  EXPECT_THAT(Rows("SELECT count(*) || '' FROM event WHERE name LIKE 'cleanup %'"),
              ElementsAre("40"));
}

// Regression: after a full disk was freed, only later events were counted.
TEST_F(OpenScopes, CountsAreThoseOfTheWholeRecording) {
  EXPECT_EQ(InChild([&] {
              signal(SIGXFSZ, SIG_IGN);
              auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000});
              auto record = [](int64_t count) {
                for (int64_t i = 0; i < count; ++i) {
                  Trace scope("scope");
                  scope.Arg("random", uint64_t(i) * 0x9e3779b97f4a7c15);
                  if (i % 1000 == 0) usleep(100);
                }
              };
              record(20'000);
              if (!CommitRecording().ok()) return 1;
              rlimit before{};
              getrlimit(RLIMIT_FSIZE, &before);
              const rlimit none{1 << 16, before.rlim_max};
              setrlimit(RLIMIT_FSIZE, &none);
              record(20'000);
              if (CommitRecording().ok()) return 2;
              setrlimit(RLIMIT_FSIZE, &before);
              auto stats = recording->Stop();
              return stats.ok() && stats->events == 40'000 && stats->threads == 1 ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace xlaprof
