#include "profiler/record/record.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <latch>
#include <map>
#include <thread>

#include "base/clock_ns.h"
#include "core/observe/observer.h"
#include "profiler/record/current.h"
#include "profiler/record/recover.h"
#include "profiler/store/events.h"
#include "tests/profiler/record/recorded.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

void Inner() {
  XLAPROF_TRACE("inner");
  Instant("here");
}

TEST_F(Record, ScopesStepsCountersAndArguments) {
  auto recording = StartRecording(path_, {.label = "test"});
  ASSERT_TRUE(recording.ok()) << recording.status();
  NameThread("main");
  for (int step = 0; step < 3; ++step) {
    XLAPROF_STEP("train", step);
    Trace trace("forward");
    trace.Arg("layer", 7).Arg("ratio", 0.5).Arg("what", std::string_view("conv")).FlowOut(42);
    Inner();
    XLAPROF_COUNTER("loss", 1.0 / (step + 1));
  }
  try {
    Trace trace("throws");
    throw 1;
  } catch (int) {
  }
  std::thread([] {
    NameThread("worker");
    Trace("back").FlowIn(42);
  }).join();
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->events, 17);
  EXPECT_EQ(stats->dropped, 0);
  EXPECT_EQ(stats->threads, 2);
  EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));

  EXPECT_THAT(
      Rows("SELECT t.name || ' ' || e.name || ' ' || e.depth FROM event e JOIN track t ON "
           "t.id = e.track_id ORDER BY t.id, e.ts_ns, e.depth LIMIT 5"),
      ElementsAre("main train 0", "main forward 1", "main inner 2", "main here 3", "main train 0"));
  EXPECT_THAT(Rows("SELECT count(*) FROM event WHERE name = 'throws' AND depth = 0"),
              ElementsAre("1"));
  EXPECT_THAT(Rows("SELECT key || '=' || value FROM arg WHERE event_id = (SELECT min(id) FROM "
                   "event WHERE name = 'forward') ORDER BY key"),
              ElementsAre("layer=7", "ratio=0.5", "what=conv"));
  EXPECT_THAT(Rows("SELECT name || number || ' ' || ordinal FROM step ORDER BY id"),
              ElementsAre("train0 0", "train1 1", "train2 2"));
  EXPECT_THAT(Rows("SELECT count(*) FROM event WHERE name = 'back' AND flow_in = 42"),
              ElementsAre("1"));
  EXPECT_THAT(Rows("SELECT count(*) || ' ' || max(value) FROM counter_sample"),
              ElementsAre("3 1.0"));
  EXPECT_THAT(Rows("SELECT value FROM arg WHERE key = 'source_file' LIMIT 1"),
              ElementsAre(HasSubstr("record_test.cc")));
  EXPECT_THAT(Rows("SELECT ended || ' ' || clock FROM recording"), ElementsAre(HasSubstr("1 ")));
}

// A device's work is done in turns by the threads that wait for it, but its events are on one
// track.
TEST_F(Record, WhatThreadsDoForADeviceIsTheDevices) {
  for (int times = 0; times < 2; ++times) {
    auto recording = StartRecording(path_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    observe::Observer& observer = *observe::Current();
    auto work = [&](const char* name) {
      XLAPROF_TRACE("waits");
      observer.EnterDevice("CPU:0");
      observer.OnModule(name, ClockNs(CLOCK_MONOTONIC), 10, 1);
      observer.LeaveDevice();
      Instant("after");
    };
    work("first");
    std::thread(work, "second").join();
    work("third");
    ASSERT_TRUE(recording->Stop().ok());
    EXPECT_THAT(Rows("SELECT e.name FROM event e JOIN track t ON t.id = e.track_id WHERE t.kind = "
                     "'device' AND t.name = 'CPU:0' AND t.tid IS NULL ORDER BY e.ts_ns"),
                ElementsAre("first", "second", "third"));
    EXPECT_THAT(Rows("SELECT count(*) FROM track WHERE kind = 'device'"), ElementsAre("1"));
    EXPECT_THAT(Rows("SELECT group_concat(e.name || e.depth, ' ') FROM event e JOIN track t ON "
                     "t.id = e.track_id WHERE t.kind = 'host_thread' GROUP BY t.id ORDER BY t.id"),
                ElementsAre("waits0 after1 waits0 after1", "waits0 after1"));
    fs::remove(path_);
  }
}

TEST_F(Record, ScopesEndHoweverTheirBlockIsLeft) {
  NameProcess("before");
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  NameProcess("trainer 3");
  auto early = [](bool leave) {
    XLAPROF_TRACE("early");
    if (leave) return;
    XLAPROF_TRACE("late");
  };
  early(true);
  early(false);
  try {
    XLAPROF_TRACE("outer");
    XLAPROF_TRACE("throws");
    throw 1;
  } catch (int) {
    XLAPROF_TRACE("caught");
  }
  ASSERT_TRUE(recording->Stop().ok());
  NameProcess("");
  EXPECT_THAT(Rows("SELECT name || ' ' || depth FROM event ORDER BY ts_ns, depth"),
              ElementsAre("early 0", "early 0", "late 1", "outer 0", "throws 1", "caught 0"));
  EXPECT_THAT(Rows("SELECT name FROM process"), ElementsAre("trainer 3"));
}

// Events of devices may overlap without nesting, and scopes may be deeper than any table.
TEST_F(Record, EventsAreInTheOrderOfTheirStarts) {
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  std::function<void(int)> nest = [&](int depth) {
    XLAPROF_TRACE("nested");
    if (depth < 600) nest(depth + 1);
    if (depth % 100 == 0) Inner();
  };
  nest(0);
  const uint64_t now = record::Now();
  record::Ring& ring = *record::RingOfThread(record::recording);
  for (auto [begin, end] : {std::pair(25, 28), {10, 30}, {20, 40}, {20, 41}}) {
    ring.Publish(
        now + uint64_t(begin) * 1000, now + uint64_t(end) * 1000, 0,
        record::Slot::What(SiteOfName(Category::kScope, std::to_string(end)), 0, record::kScope));
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(
      Rows("SELECT group_concat(name) FROM (SELECT name FROM event WHERE name GLOB '[0-9]*' "
           "ORDER BY id)"),
      ElementsAre("30,41,40,28"));
  EXPECT_THAT(
      Rows("SELECT count(*) || ' ' || max(depth) FROM (SELECT depth, ts_ns < lag(ts_ns) OVER "
           "(ORDER BY id) AS back FROM event) WHERE back IS NOT 1"),
      ElementsAre("619 602"));
}

TEST_F(Record, NothingIsRecordedWhileNobodyRecords) {
  {
    XLAPROF_TRACE("before");
  }
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  {
    Trace during("during");
  }
  ASSERT_TRUE(recording->Stop().ok());
  {
    Trace after("after");
  }
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("during"));
}

TEST_F(Record, SeveralRecordingsOneAfterTheOther) {
  for (int i = 0; i < 3; ++i) {
    path_ = folder_ / fmt::format("{}.xlaprof", i);
    auto recording = StartRecording(path_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    EXPECT_EQ(StartRecording(folder_ / "second.xlaprof").status().code(),
              absl::StatusCode::kFailedPrecondition);
    {
      XLAPROF_TRACE("same place");
      Trace name(fmt::format("name {}", i));
    }
    ASSERT_TRUE(recording->Stop().ok());
    EXPECT_THAT(Rows("SELECT name FROM event ORDER BY depth"),
                ElementsAre("same place", fmt::format("name {}", i)));
  }
}

// Scopes that begin in one recording and end in the next, or in none, are harmless.
TEST_F(Record, ScopesOutliveTheirRecording) {
  auto recording = StartRecording(path_);
  auto outer = std::make_unique<Trace>("outer");
  ASSERT_TRUE(recording->Stop().ok());
  path_ = folder_ / "second.xlaprof";
  recording = StartRecording(path_);
  {
    Trace inner("inner");
    outer.reset();
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("inner"));
}

// This program is captured again and again, for days.
TEST_F(Record, RecordingsLeaveNothingOpen) {
  auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  std::vector<std::unique_ptr<Trace>> scopes;
  const auto before = open_files();
  for (int i = 0; i < 20; ++i) {
    auto recording = StartRecording(folder_ / fmt::format("{}.xlaprof", i));
    ASSERT_TRUE(recording.ok()) << recording.status();
    scopes.push_back(std::make_unique<Trace>("open"));
    for (int k = 0; k < 1000; ++k) Trace scope("scope");
    ASSERT_TRUE(recording->Stop().ok());
  }
  scopes.clear();
  EXPECT_EQ(open_files(), before);
}

TEST_F(Record, ManyThreadsComeAndGo) {
  auto recording = StartRecording(path_, {.ring_bytes = 1 << 16, .commit_interval_ns = 1'000'000});
  ASSERT_TRUE(recording.ok());
  constexpr int kRounds = 30, kThreads = 8, kScopes = 500;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < kScopes; ++i) {
          XLAPROF_TRACE("scope");
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->events + stats->dropped, kRounds * kThreads * kScopes);
  EXPECT_EQ(Rows("SELECT count(*) FROM event"),
            std::vector<std::string>{std::to_string(stats->events)});
  EXPECT_THAT(Rows("SELECT count(*) FROM recording_thread"), ElementsAre("240"));
}

// Chunks are written before their COMMIT.
TEST_F(Record, ManyChunksAreOneCommit) {
  auto recording =
      StartRecording(path_, {.ring_bytes = 64 << 20, .commit_interval_ns = 1'000'000'000'000});
  ASSERT_TRUE(recording.ok());
  constexpr int64_t kScopes = 100'000;
  for (int64_t i = 0; i < kScopes; ++i) Trace("scope").Arg("i", i);
  EXPECT_THAT(Rows("SELECT count(*) FROM event"), ElementsAre("0"));
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->events, kScopes);
  EXPECT_THAT(Rows("SELECT sum(count) || ' ' || (count(*) > 1) FROM event_chunk"),
              ElementsAre("100000 1"));
  EXPECT_THAT(Rows("SELECT events || ' ' || taken_slots FROM recording_thread"),
              ElementsAre("100000 200000"));
}

// Returns the bytes that a file takes on the disk.
int64_t BytesOnDisk(const std::filesystem::path& path) {
  struct stat status{};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return int64_t(status.st_blocks) * 512;
}

// Regression: each thread took 16 MiB of the disk at its first event.
TEST_F(Record, AQuietThreadTakesLittleOfTheDisk) {
  auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000'000'000});
  ASSERT_TRUE(recording.ok());
  const int64_t before = BytesOnDisk(RingPath(path_));
  constexpr int kThreads = 50;
  std::latch recorded(kThreads), done(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) Trace scope("scope");
      recorded.count_down();
      done.wait();
    });
  }
  recorded.wait();
  EXPECT_LE(BytesOnDisk(RingPath(path_)) - before, kThreads * (int64_t{72} << 10) + (1 << 18));
  done.count_down();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recording->Stop()->events, kThreads * 10);
}

// The rings of one thread grow while slots wait in the earlier ones, in which they began at any
// place.
TEST_F(Record, RingsGrowWithoutLosingOrMixingEvents) {
  for (const int64_t first : {0, 1, 700, 2047, 5000}) {
    auto recording =
        StartRecording(path_, {.ring_bytes = 4 << 20, .commit_interval_ns = 1'000'000});
    ASSERT_TRUE(recording.ok());
    int64_t number = 0;
    for (; number < first; ++number) Trace("scope").Arg("i", number);
    ASSERT_TRUE(CommitRecording().ok());
    for (; number < first + 30'000; ++number) {
      Trace("scope").Arg("i", number);
      if (number % 7 == 0) Counter("seven", double(number));
    }
    const auto stats = recording->Stop();
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(stats->dropped, 0);
    EXPECT_EQ(Rows("SELECT count(*) || ' ' || min(a.value) || ' ' || max(a.value) || ' ' || "
                   "count(DISTINCT a.value) FROM event e JOIN arg a ON a.event_id = e.id"),
              std::vector<std::string>{fmt::format("{0} 0 {1} {0}", number, number - 1)});
    std::filesystem::remove(path_);
  }
}

// A full ring drops events and counts them, and the report shows the count.
TEST_F(Record, DropsAreCounted) {
  auto recording =
      StartRecording(path_, {.ring_bytes = 4096, .commit_interval_ns = 1'000'000'000'000});
  ASSERT_TRUE(recording.ok());
  constexpr int64_t kScopes = 1'000'000;
  for (int64_t i = 0; i < kScopes; ++i) {
    XLAPROF_TRACE("scope");
  }
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_GT(stats->dropped, 0);
  EXPECT_EQ(stats->events + stats->dropped, kScopes);
  EXPECT_EQ(Rows("SELECT sum(count) FROM import_issue WHERE code = 'dropped_events'"),
            std::vector<std::string>{std::to_string(stats->dropped)});
}

// The next thread that uses the same part of the ring has its own count.
TEST_F(Record, DropsOfThreadsThatAreGoneStayCounted) {
  auto recording = StartRecording(path_, {.ring_bytes = 4096, .commit_interval_ns = 1'000'000});
  ASSERT_TRUE(recording.ok());
  constexpr int kThreads = 20;
  constexpr int64_t kScopes = 20'000;
  for (int t = 0; t < kThreads; ++t) {
    std::thread([] {
      for (int64_t i = 0; i < kScopes; ++i) Trace scope("scope");
    }).join();
    usleep(20'000);
  }
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_GT(stats->dropped, 0);
  EXPECT_EQ(stats->threads, kThreads);
  EXPECT_THAT(Rows("SELECT count(DISTINCT segment) < 20 FROM recording_thread"), ElementsAre("1"))
      << "no part of the ring was used again";
  EXPECT_THAT(Rows("SELECT DISTINCT events + dropped FROM recording_thread"),
              ElementsAre(std::to_string(kScopes)));
}

TEST_F(Record, IsReadWhileItGoesOn) {
  auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000});
  ASSERT_TRUE(recording.ok());
  {
    Trace open("open");
    for (int i = 0; i < 1000; ++i) Trace scope("scope");
    for (int tries = 0; tries < 1000 && Rows("SELECT count(*) FROM event")[0] != "1000"; ++tries)
      usleep(10'000);
    EXPECT_THAT(Rows("SELECT name || count(*) FROM event GROUP BY name"), ElementsAre("scope1000"));
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name || count(*) FROM event GROUP BY name ORDER BY name"),
              ElementsAre("open1", "scope1000"));
  EXPECT_THAT(Rows("SELECT DISTINCT depth FROM event WHERE name = 'scope'"), ElementsAre("1"));
}

// A reader that reads on while the recording ends keeps its snapshot, and does not keep the
// recording from ending.
TEST_F(Record, EndsWhileItIsRead) {
  auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000});
  ASSERT_TRUE(recording.ok());
  for (int i = 0; i < 1000; ++i) Trace scope("scope");
  for (int tries = 0; tries < 1000 && Rows("SELECT count(*) FROM event")[0] != "1000"; ++tries)
    usleep(10'000);
  auto reader = Store::Open(path_);
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(reader->Exec("BEGIN").ok());
  EXPECT_EQ(*reader->One<int64_t>("SELECT count(*) FROM event").value(), 1000);
  {
    Trace scope("scope");
  }
  const auto begin = std::chrono::steady_clock::now();
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(stats->events, 1001);
  EXPECT_EQ(*reader->One<int64_t>("SELECT count(*) FROM event").value(), 1000);
  ASSERT_TRUE(reader->Exec("COMMIT").ok());
  EXPECT_EQ(*reader->One<int64_t>("SELECT count(*) FROM event").value(), 1001);
}

TEST_F(Record, AForkedChildDoesNotWriteIntoItsParentsRing) {
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  {
    Trace open("open in both");
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 1000; ++i) Trace lost("the child's");
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  const auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("open in both"));
  // Regression: the child's events were nowhere, and the report said that none were dropped.
  EXPECT_EQ(stats->forked, 1000);
  EXPECT_THAT(Rows("SELECT count || '' FROM import_issue WHERE code = 'forked_events'"),
              ElementsAre("1000"));
}

TEST_F(Record, SaysWhyItCannotRecord) {
  auto there = StartRecording(path_);
  ASSERT_TRUE(there->Stop().ok());
  EXPECT_EQ(StartRecording(path_).status().code(), absl::StatusCode::kAlreadyExists);
  auto nowhere = StartRecording(folder_ / "no" / "folder.xlaprof");
  EXPECT_FALSE(nowhere.ok());
  EXPECT_THAT(std::string(Message(nowhere.status())), HasSubstr("folder"));
  EXPECT_FALSE(StartRecording(folder_ / "odd.xlaprof", {.ring_bytes = 1000}).ok());
  EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
}

// Whatever happens to the file, the program continues, and gets the error at the end.
TEST_F(Record, SaysThatItsStoreWasDeleted) {
  auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000});
  ASSERT_TRUE(recording.ok());
  {
    Trace scope("scope");
  }
  std::filesystem::remove(path_);
  for (int i = 0; i < 100'000; ++i) Trace scope("scope");
  auto stats = recording->Stop();
  EXPECT_EQ(stats.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Message(stats.status())),
              testing::AllOf(HasSubstr(path_), HasSubstr("deleted")));
  EXPECT_FALSE(std::filesystem::exists(RingPath(path_)));
}

// Regression: the program was ended by SIGBUS.
TEST_F(Record, ATruncatedRingDoesNotEndTheProgram) {
  auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000});
  ASSERT_TRUE(recording.ok());
  for (int i = 0; i < 1000; ++i) Trace scope("before");
  ASSERT_TRUE(CommitRecording().ok());
  fs::resize_file(RingPath(path_), 100);
  for (int64_t i = 0; i < 10'000; ++i) Trace("after").Arg("i", i);
  std::thread([] { Trace scope("another thread's"); }).join();
  const auto stats = recording->Stop();
  EXPECT_THAT(std::string(Message(stats.status())), HasSubstr("was truncated by another program"));
  EXPECT_FALSE(fs::exists(RingPath(path_)));
  EXPECT_THAT(Rows("SELECT count(*) >= 1000 FROM event"), ElementsAre("1"));
  std::filesystem::remove(path_);
  auto next = StartRecording(path_);
  ASSERT_TRUE(next.ok()) << next.status();
  {
    Trace scope("again");
  }
  EXPECT_EQ(next->Stop()->events, 1);
}

// Regression: the data stayed in the log at the old place, and the message said that all was lost.
TEST_F(Record, WhatWasWrittenMovesWithTheStore) {
  auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000});
  ASSERT_TRUE(recording.ok());
  for (int i = 0; i < 1000; ++i) Trace scope("before");
  ASSERT_TRUE(CommitRecording().ok());
  const fs::path moved = folder_ / "moved.xlaprof";
  fs::rename(path_, moved);
  for (int i = 0; i < 100; ++i) {
    Trace scope("after");
    usleep(10'000);
  }
  const auto stats = recording->Stop();
  EXPECT_THAT(std::string(Message(stats.status())), HasSubstr("was moved to " + moved.string()));
  auto store = Store::Open(moved);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_GE(*store->One<int64_t>("SELECT count(*) FROM event").value(), 1000);
  EXPECT_FALSE(fs::exists(RingPath(path_)));
}

// Regression: the ring stayed in the moved folder.
TEST_F(Record, WhatWasWrittenMovesWithItsFolder) {
  const fs::path before = folder_ / "before", moved = folder_ / "moved";
  fs::create_directory(before);
  auto recording = StartRecording(before / "run.xlaprof", {.commit_interval_ns = 1'000'000});
  ASSERT_TRUE(recording.ok());
  for (int i = 0; i < 1000; ++i) Trace scope("before");
  ASSERT_TRUE(CommitRecording().ok());
  fs::rename(before, moved);
  const auto stats = recording->Stop();
  EXPECT_THAT(std::string(Message(stats.status())),
              HasSubstr("was moved to " + (moved / "run.xlaprof").string()));
  auto store = Store::Open(moved / "run.xlaprof");
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(*store->One<int64_t>("SELECT count(*) FROM event").value(), 1000);
  EXPECT_FALSE(fs::exists(RingPath(moved / "run.xlaprof")));
}

// Regression: SQLite's log stayed behind, so the copy held nothing, and the message said that all
// was lost. A file is moved to another file system by copying it.
TEST_F(Record, AStoreThatWasMovedToAnotherFileSystemIsWrittenAgain) {
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  for (int i = 0; i < 1000; ++i) Trace scope("before");
  ASSERT_TRUE(CommitRecording().ok());
  fs::copy_file(path_, folder_ / "copy.xlaprof");
  fs::remove(path_);
  const auto stats = recording->Stop();
  EXPECT_THAT(std::string(Message(stats.status())),
              testing::AllOf(HasSubstr("moved to another file system"),
                             HasSubstr("What was recorded until then was written to")));
  EXPECT_THAT(Rows("SELECT count(*) FROM event"), ElementsAre("1000"));
  EXPECT_THAT(Rows("SELECT ended FROM recording"), ElementsAre("1"));
  for (const char* suffix : {"-wal", "-shm", ".ring"})
    EXPECT_FALSE(fs::exists(path_.string() + suffix)) << suffix;
}

TEST_F(Record, SaysWhenItsStoreCannotBeWrittenAgain) {
  const fs::path run = folder_ / "runs/run.xlaprof";
  for (const bool is_replaced : {false, true}) {
    fs::create_directory(run.parent_path());
    auto recording = StartRecording(run, {.commit_interval_ns = 1'000'000});
    ASSERT_TRUE(recording.ok());
    {
      Trace scope("scope");
    }
    ASSERT_TRUE(CommitRecording().ok());
    fs::remove_all(run.parent_path());
    if (is_replaced) {
      fs::create_directory(run.parent_path());
      std::ofstream(run) << "another file";
    }
    const auto stats = recording->Stop();
    EXPECT_EQ(stats.status().code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(
        std::string(Message(stats.status())),
        testing::AllOf(HasSubstr("could not be written again"),
                       HasSubstr(is_replaced ? "another file has its name" : "cannot be created"),
                       HasSubstr("Its events are lost, unless")));
    std::string content;
    std::ifstream(run) >> content;
    EXPECT_EQ(content, is_replaced ? "another" : "");
    fs::remove_all(run.parent_path());
  }
}

// A limit on the file size stands in for a full disk: nothing that was completed is lost.
TEST_F(Record, KeepsWhatAFullDiskDoesNotTake) {
  int64_t ends[2] = {};
  int ends_pipe[2];
  ASSERT_EQ(pipe(ends_pipe), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000});
    if (!recording.ok()) _exit(3);
    {
      Trace scope("the ring of this thread is made");
    }
    signal(SIGXFSZ, SIG_IGN);
    const rlimit no_growth{1 << 20, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &no_growth);
    int64_t completed = 0;
    for (; completed < 400'000; ++completed) {
      Trace scope("scope");
      scope.Arg("random", uint64_t(completed) * 0x9e3779b97f4a7c15);
      if (completed % 1000 == 0) usleep(100);
    }
    auto stats = recording->Stop();
    const bool told = !stats.ok() && Message(stats.status()).find("recover") != std::string::npos;
    const int64_t said[2] = {completed + 1, told};
    if (write(ends_pipe[1], said, sizeof said) != sizeof said) _exit(4);
    _exit(0);
  }
  ASSERT_EQ(read(ends_pipe[0], ends, sizeof ends), ssize_t(sizeof ends));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(ends[1], 1) << "it was not said what to do";
  // Regression: the text said that the process was killed.
  auto read = ReadKilled(path_);
  ASSERT_TRUE(read.ok() && *read) << read.status();
  EXPECT_EQ(*(*read)->Meta("recording_end"), "unwritten");
  auto recovered = RecoverRecording(path_);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_GT(recovered->events, 0);
  EXPECT_EQ(Rows("SELECT count(*) + (SELECT sum(dropped) FROM recording_thread) FROM event"),
            std::vector<std::string>{std::to_string(ends[0])});
  EXPECT_THAT(Rows("SELECT count(DISTINCT value) = count(*) FROM arg WHERE key = 'random'"),
              ElementsAre("1"));
  EXPECT_THAT(Rows("PRAGMA integrity_check"), ElementsAre("ok"));
  // Regression: the report said that the ring was full because events came too fast.
  EXPECT_THAT(Rows("SELECT count FROM import_issue WHERE code = 'dropped_events'"),
              testing::IsEmpty());
  EXPECT_EQ(
      Rows("SELECT coalesce(sum(count), 0) FROM import_issue WHERE code = 'unwritten_events'"),
      Rows("SELECT sum(dropped) FROM recording_thread"));
}

// The kernel sends a signal to a process that writes beyond `ulimit -f`. Writes of the stopping
// thread fail with an error instead, which is reported; the program's own writes behave as before.
TEST_F(Record, IsNotEndedByTheLimitOfItsFiles) {
  const pid_t child = fork();
  if (child == 0) {
    // If the log is already larger than the limit, writing to it would end the process, for example
    // when a sanitizer prints.
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    auto recording = StartRecording(path_, {.commit_interval_ns = 3'600'000'000'000});
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!recording.ok()) _exit(3);
    auto record = [] {
      for (int i = 0; i < 10'000; ++i) {
        Trace scope("scope");
        scope.Arg("random", uint64_t(i) * 0x9e3779b97f4a7c15);
      }
    };
    record();
    if (!CommitRecording().ok()) _exit(4);
    const rlimit no_growth{1 << 16, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &no_growth);
    // Stopping must write these, and moves the events before from the log to the store.
    record();
    auto stats = recording->Stop();
    if (stats.ok() || Message(stats.status()).find("recover") == std::string::npos) _exit(5);
    pthread_sigmask(SIG_BLOCK, nullptr, &before);
    _exit(sigismember(&before, SIGXFSZ) == 1 ? 6 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ASSERT_TRUE(RecoverRecording(path_).ok());
  EXPECT_THAT(Rows("SELECT count(*) + (SELECT sum(dropped) FROM recording_thread) FROM event"),
              ElementsAre("20000"));
}

// The recorded times agree with the system's clocks.
TEST_F(Record, ClockIsTrue) {
  timespec before, after;
  auto recording = StartRecording(path_);
  clock_gettime(CLOCK_REALTIME, &before);
  {
    Trace trace("sleeps");
    usleep(300'000);
  }
  clock_gettime(CLOCK_REALTIME, &after);
  ASSERT_TRUE(recording->Stop().ok());
  auto store = Store::Open(path_);
  const int64_t base = **store->MetaNs("base_epoch_ns");
  auto ns = [&](timespec t) { return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec - base; };
  const int64_t ts = *store->One<int64_t>("SELECT ts_ns FROM event").value();
  const int64_t dur = *store->One<int64_t>("SELECT dur_ns FROM event").value();
  EXPECT_GE(ts, ns(before) - 2'000'000);
  EXPECT_LE(ts + dur, ns(after) + 2'000'000);
  EXPECT_GE(dur, 300'000'000 - 2'000'000);
}

}  // namespace
}  // namespace xlaprof
