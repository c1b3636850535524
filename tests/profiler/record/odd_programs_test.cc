// Tests programs that do unusual things while they are recorded.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <thread>

#include "base/sanitized.h"
#include "profiler/record/current.h"
#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "tests/profiler/record/recorded.h"

namespace xlaprof {
bool UnrecordedScopesTouchNothing();
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

using OddProgram = Record;

// Regression: a trainer that waits for SIGTERM in a thread of its own was killed by that signal.
TEST_F(OddProgram, TakesNoSignalsOfTheProgram) {
  EXPECT_EQ(InChild([&] {
              sigset_t term, pending;
              sigemptyset(&term);
              sigaddset(&term, SIGTERM);
              pthread_sigmask(SIG_BLOCK, &term, nullptr);
              auto recording = StartRecording(path_);
              kill(getpid(), SIGTERM);
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
              sigpending(&pending);
              return recording.ok() && sigismember(&pending, SIGTERM) ? 0 : 1;
            }),
            0);
}

TEST_F(OddProgram, TheProgramMayGoToAnotherFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  auto recording = StartRecording("run.xlaprof");
  fs::current_path("/");
  {
    XLAPROF_TRACE("elsewhere");
  }
  auto stats = recording->Stop();
  fs::current_path(before);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
}

TEST_F(OddProgram, AStepKeepsItsNumberBesideFlows) {
  auto recording = StartRecording(path_);
  {
    StepTrace step("train", 7);
    step.FlowOut(1000);
    Trace both("both");
    both.FlowIn(1000).FlowOut(2000).Arg("size", 3);
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT number || ' ' || name FROM step"), ElementsAre("7 train"));
  EXPECT_THAT(
      Rows(
          "SELECT name || ' ' || coalesce(flow_in, 0) || ' ' || flow_out FROM event ORDER BY name"),
      ElementsAre("both 1000 2000", "train 0 1000"));
  EXPECT_THAT(Rows("SELECT key || '=' || value FROM arg WHERE key = 'size'"),
              ElementsAre("size=3"));
}

// exit() leaves scopes open, and a thread may still run.
TEST_F(OddProgram, WhatIsOpenAtTheEndIsTold) {
  auto recording = StartRecording(path_);
  StepTrace step("train", 3);
  XLAPROF_TRACE("forward");
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name || ' ' || coalesce(dur_ns, 'open') FROM event ORDER BY depth"),
              ElementsAre("train open", "forward open"));
  EXPECT_THAT(Rows("SELECT number || ' ' || coalesce(dur_ns, 'open') FROM step"),
              ElementsAre("3 open"));
}

TEST_F(OddProgram, ScopesMayEndOnAnotherThreadOrAfterTheirs) {
  auto recording = StartRecording(path_);
  std::unique_ptr<Trace> orphan;
  std::thread([&] { orphan = std::make_unique<Trace>("orphan"); }).join();
  orphan->Arg("size", 1);
  orphan.reset();
  {
    auto moved = std::make_unique<Trace>("moved");
    std::thread([&] {
      XLAPROF_TRACE("around");
      moved.reset();
    }).join();
  }
  auto after = std::make_unique<Trace>("after");
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  after.reset();
  EXPECT_EQ(stats->events, 4);
  EXPECT_EQ(stats->dropped, 0);
  EXPECT_THAT(Rows("SELECT name || ' ' || (dur_ns IS NULL) FROM event ORDER BY name"),
              ElementsAre("after 1", "around 0", "moved 0", "orphan 0"));
}

// Regression: the variables of both macros had the same names.
#define STEP_AND_SCOPES(number)   \
  XLAPROF_STEP("train", number);  \
  XLAPROF_TRACE("forward");       \
  XLAPROF_TRACE_IN("io", "load"); \
  XLAPROF_TRACE_ON(Track("queue"), "waits")
TEST_F(OddProgram, ALineMayHoldDifferentMacros) {
  auto recording = StartRecording(path_);
  { STEP_AND_SCOPES(3); }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name FROM event ORDER BY name"),
              ElementsAre("forward", "load", "train", "waits"));
}

TEST_F(OddProgram, AThreadMayBeNamedAfterItsFirstEvent) {
  auto recording = StartRecording(path_);
  std::thread([] {
    {
      XLAPROF_TRACE("first");
    }
    ASSERT_TRUE(CommitRecording(10'000'000'000).ok());
    NameThread("late");
  }).join();
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name FROM track WHERE kind = 'host_thread'"), ElementsAre("late"));
}

TEST_F(OddProgram, ACounterIsOneTrackWhereverItIsCounted) {
  auto recording = StartRecording(path_);
  XLAPROF_COUNTER("loss", 1);
  XLAPROF_COUNTER("loss", 2);
  Counter("loss", 3);
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name FROM track WHERE kind = 'counter'"), ElementsAre("loss"));
  EXPECT_THAT(Rows("SELECT count(*) || '' FROM counter_sample"), ElementsAre("3"));
}

// Regression: every loss must be reported, and no name may be silently empty.
TEST_F(OddProgram, TextsThatTheTablesDoNotHoldAreCounted) {
  const int failed = InChild([&] {
    auto recording = StartRecording(path_);
    std::string text(size_t(64) << 10, 'x');
    for (int i = 0; i < 600; ++i) {
      text.replace(0, 4, fmt::format("{:4}", i));
      Trace("long").Arg("text", std::string_view(text));
    }
    for (int i = 0; i < 200'000; ++i) Trace(fmt::format("name {}", i));
    {
      XLAPROF_TRACE("placed");
    }
    return recording->Stop().ok() ? 0 : 1;
  });
  ASSERT_EQ(failed, 0);
  EXPECT_THAT(Rows("SELECT count(*) || '' FROM event WHERE name = ''"), ElementsAre("0"));
  EXPECT_THAT(Rows("SELECT count(*) || '' FROM event WHERE name = 'placed'"), ElementsAre("1"));
  EXPECT_THAT(Rows("SELECT (count(*) > 100) || '' FROM arg WHERE value LIKE '(not kept%'"),
              ElementsAre("1"));
  EXPECT_THAT(Rows("SELECT (count > 100000) || advice FROM import_issue WHERE code = 'lost_texts'"),
              ElementsAre(HasSubstr("1The recording's tables were full")));
}

TEST_F(OddProgram, ArgumentsBeyondEightAreCounted) {
  auto recording = StartRecording(path_);
  {
    Trace trace("wide");
    for (int i = 0; i < 11; ++i) trace.Arg("a", i);
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT count || '' FROM import_issue WHERE code = 'dropped_arguments'"),
              ElementsAre("3"));
}

TEST_F(OddProgram, EventsOfThreadsWithoutARingAreCounted) {
  constexpr int kThreads = 1100;  // more than the segments of a ring file
  auto recording = StartRecording(path_, {.ring_bytes = 4096});
  std::vector<std::thread> threads;
  std::latch all(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      {
        XLAPROF_TRACE("one");
      }
      all.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_LT(stats->events, kThreads);
  EXPECT_THAT(Rows("SELECT count || '' FROM import_issue WHERE code = 'unrecorded_events'"),
              ElementsAre(fmt::to_string(kThreads - stats->events)));
  EXPECT_EQ(stats->dropped, kThreads - stats->events);
}

// Regression: a helper process of a killed trainer kept the lock, so nothing could be recovered.
TEST_F(OddProgram, AForkedChildDoesNotKeepTheLock) {
  int from_orphan[2];
  ASSERT_EQ(pipe(from_orphan), 0);
  EXPECT_EQ(InChild([&] {
              auto recording = StartRecording(path_);
              {
                XLAPROF_TRACE("before");
              }
              if (fork() == 0) {
                const pid_t orphan = getpid();
                if (write(from_orphan[1], &orphan, sizeof orphan) != sizeof orphan) _exit(1);
                pause();
                _exit(0);
              }
              raise(SIGKILL);
              return 1;
            }),
            -SIGKILL);
  pid_t orphan = 0;
  ASSERT_EQ(read(from_orphan[0], &orphan, sizeof orphan), ssize_t(sizeof orphan));
  auto recovered = RecoverRecording(path_);
  kill(orphan, SIGKILL);
  close(from_orphan[0]), close(from_orphan[1]);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_EQ(recovered->events, 1);
}

// Regression: after a fork while the recording's thread was inside SQLite, the child could not get
// its locks.
TEST_F(OddProgram, AForkedChildMayRecordItself) {
#ifdef XLAPROF_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked for ever in a child, or it starts no "
                  "threads there";
#endif
  auto recording = StartRecording(path_, {.commit_interval_ns = 1});
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done) Trace("busy").Arg("a", 1);
  });
  for (int i = 0; i < 50; ++i) {
    const fs::path own = folder_ / fmt::format("child{}.xlaprof", i);
    ASSERT_EQ(InChild([&] {
                alarm(60);
                auto mine = StartRecording(own);
                {
                  XLAPROF_TRACE("child's");
                }
                auto stats = mine->Stop();
                return stats.ok() && stats->events == 1 ? 0 : 1;
              }),
              0);
  }
  done = true;
  busy.join();
  EXPECT_TRUE(recording->Stop().ok());
}

// Another file of this program was compiled without the recorder.
TEST_F(OddProgram, FilesWithAndWithoutItMayMeetInOneProgram) {
  auto recording = StartRecording(path_);
  EXPECT_TRUE(UnrecordedScopesTouchNothing());
  {
    Trace trace("recorded");
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("recorded"));
}

}  // namespace
}  // namespace xlaprof
