// Tests a store as a file: readers beside a writer, full disks, foreign and newer files, and that
// opening leaves no trace.
#include "profiler/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "profiler/store/damaged_store.h"
#include "profiler/store/events.h"
#include "profiler/store/tables.h"
#include "tests/golden_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("store_{}_{}", ::getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ / "run.xlaprof";
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Makes one commit: a chunk on each of three tracks.
  static absl::Status Commit(Store& store, EventWriter& writer, int64_t n) {
    XP_TRY(store.Begin());
    for (int64_t track : {1, 2, 3}) {
      for (int64_t i = 0; i < 50; ++i)
        XP_TRY(writer.Add(track, {.ts_ns = n * 100 + i, .dur_ns = 1, .name = 1}));
    }
    XP_TRY(writer.Flush());
    return store.Commit();
  }

  // Returns the number of events in a scan, or -1 if the scan saw only a part of a commit.
  static int64_t WholeCommits(const Store& store) {
    auto scanner = EventScanner::Make(store, {});
    if (!scanner.ok()) return -1;
    std::map<int64_t, int64_t> of_track;
    EventBatch batch;
    while (true) {
      auto more = scanner->Next(&batch);
      if (!more.ok()) return -1;
      if (!*more) break;
      of_track[batch.track_id] += int64_t(batch.size);
    }
    if (scanner->skipped_chunks() != 0 || of_track[1] != of_track[2] || of_track[1] != of_track[3])
      return -1;
    return of_track[1];
  }

  fs::path folder_, path_;
};

TEST_F(StoreTest, ReadersSeeWholeCommits) {
  constexpr int kCommits = 150;
  Store store = *Store::Create(path_);
  EventWriter writer(store);
  std::atomic<bool> done = false;
  std::atomic<int> bad = 0, scans = 0;
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      int64_t last = 0;
      while (!done) {
        auto reader = Store::Open(path_);
        int64_t seen = reader.ok() ? WholeCommits(*reader) : -1;
        if (seen < last) ++bad;
        last = std::max(last, seen);
        ++scans;
      }
    });
  }
  for (int n = 0; n < kCommits; ++n) ASSERT_TRUE(Commit(store, writer, n).ok());
  while (scans < 4) std::this_thread::yield();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(WholeCommits(*Store::Open(path_)), kCommits * 50);
}

TEST_F(StoreTest, AnotherProcessReadsWhileWeWrite) {
  { Store store = *Store::Create(path_); }
  pid_t child = fork();
  if (child == 0) {  // reads until it sees the last commit, or a partial one
    for (int64_t last = 0; last < 60 * 50;) {
      auto reader = Store::Open(path_);
      int64_t seen = reader.ok() ? WholeCommits(*reader) : -1;
      if (seen < last) _exit(1);
      last = seen;
    }
    _exit(0);
  }
  auto store = Store::OpenForWriting(path_);
  ASSERT_TRUE(store.ok()) << store.status();
  EventWriter writer(*store);
  for (int n = 0; n < 60; ++n) {
    absl::Status status = Commit(*store, writer, n);
    ASSERT_TRUE(status.ok()) << status;
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(StoreTest, AScanThatPausesHoldsNothing) {
  Store store = *Store::Create(path_);
  EventWriter writer(store);
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(Commit(store, writer, n).ok());
  Store reader = *Store::Open(path_);
  auto scanner = EventScanner::Make(reader, {});
  EventBatch batch;
  ASSERT_TRUE(*scanner->Next(&batch));
  ASSERT_TRUE(Commit(store, writer, 3).ok());
  // A checkpoint can empty the log only while nobody holds a snapshot of it.
  EXPECT_EQ(*store.One<int64_t>("PRAGMA wal_checkpoint(TRUNCATE)"), 0);
  int64_t events = int64_t(batch.size);
  while (*scanner->Next(&batch)) events += int64_t(batch.size);
  EXPECT_EQ(events, 3 * 3 * 50);  // the events that were there when the scan began
  EXPECT_EQ(scanner->skipped_chunks(), 0);
}

// Processes with the same pid in several containers may write to one directory.
TEST_F(StoreTest, OfSeveralThatMakeItOneDoes) {
  for (int round = 0; round < 20; ++round) {
    const fs::path path = folder_ / fmt::format("{}.xlaprof", round);
    std::atomic<int> ready = 0, made = 0, found = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (++ready; ready < 4;) {
        }
        const absl::Status status = Store::Create(path).status();
        made += status.ok();
        found += absl::IsAlreadyExists(status);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(found, 3);
  }
}

TEST_F(StoreTest, FullDiskSaysSoAndKeepsWhatWasCommitted) {
  Store store = *Store::Create(path_);
  EventWriter writer(store);
  ASSERT_TRUE(Commit(store, writer, 0).ok());
  int64_t pages = **store.One<int64_t>("PRAGMA page_count");
  ASSERT_TRUE(store.Exec(fmt::format("PRAGMA max_page_count={}", pages + 3)).ok());
  absl::Status status;
  for (int n = 1; status.ok() && n < 1000; ++n) status = Commit(store, writer, n);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  // Regression: a recorded program was advised to use an option that only our commands have.
  EXPECT_THAT(std::string(Message(status)),
              testing::AllOf(HasSubstr("the disk is full"), testing::Not(HasSubstr("-o"))));
  store.Rollback();
  EXPECT_GE(WholeCommits(store), 50);
}

TEST_F(StoreTest, FullFileSystemSaysSo) {
  fs::path disk = folder_ / "disk";
  fs::create_directories(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0)
    GTEST_SKIP() << "cannot mount a small file system";
  absl::Status status;
  {
    auto store = Store::Create(disk / "run.xlaprof");
    ASSERT_TRUE(store.ok()) << store.status();
    EventWriter writer(*store);
    for (int n = 0; status.ok() && n < 100'000; ++n) status = Commit(*store, writer, n);
    store->Rollback();
    EXPECT_GE(WholeCommits(*store), 50);
  }
  umount(disk.c_str());
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("the disk is full"));
}

TEST_F(StoreTest, ForeignFilesAreRefused) {
  EXPECT_TRUE(absl::IsNotFound(Store::Open(path_).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Store::Open(folder_).status()));
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_TRUE(absl::IsInvalidArgument(Store::Open(path_).status()));
  EXPECT_TRUE(absl::IsAlreadyExists(Store::Create(path_).status()));
  fs::path other = folder_ / "other.db";
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(other.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE t (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  absl::Status status = Store::Open(other).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("not an xlaprof store"));
}

// A caller of an importer treats an invalid argument as the file's fault, and continues without
// that file.
TEST_F(StoreTest, WhatOurOwnStatementsViolateIsNoFaultOfTheInput) {
  auto store = Store::CreateTemporary();
  ASSERT_TRUE(store.ok());
  const absl::Status status = store->Exec("INSERT INTO run (label) VALUES (NULL)");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
}

// SQLite reports this without an error code of its own. A fuzzer found it.
TEST_F(StoreTest, TemporaryStoresHaveTheSchemaOfFiles) {
  auto schema = [](const Store& store) {
    std::string text;
    EXPECT_TRUE(store
                    .Each("SELECT type, name, tbl_name, coalesce(sql, '') FROM "
                          "sqlite_schema UNION ALL SELECT key, value, '', '' FROM meta ORDER BY 2",
                          [&](std::string_view type, std::string_view name, std::string_view table,
                              std::string_view sql) {
                            text += fmt::format("{} {} {}: {}\n", type, name, table, sql);
                          })
                    .ok());
    for (const char* pragma : {"user_version", "page_size", "encoding", "auto_vacuum"})
      text += *store.One<std::string>(fmt::format("PRAGMA {}", pragma)).value() + "\n";
    return text;
  };
  const std::string of_file = schema(*Store::Create(path_));
  EXPECT_EQ(schema(*Store::CreateTemporary()), of_file);
  EXPECT_THAT(of_file, HasSubstr("CREATE TABLE event_chunk"));
  EXPECT_THAT(of_file, HasSubstr(fmt::format("\n{}\n{}\n", kSchemaVersion, kPageBytes)));
}

TEST_F(StoreTest, AFormatOfNoSqliteIsDamage) {
  { ASSERT_TRUE(Store::Create(path_).ok()); }
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(47).put('\x22');
  file.close();
  absl::Status status = Store::Open(path_).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("xlaprof report"));
}

TEST_F(StoreTest, EmptyFileIsCalledEmpty) {
  std::ofstream(path_).close();
  absl::Status status = Store::Open(path_).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("the file is empty (0 bytes)"));
}

// These stores have the number of our schema.
TEST_F(StoreTest, StoresWithOtherTablesOrColumnsAreRefused) {
  auto message_after = [&](const char* sql) {
    fs::remove(path_);
    EXPECT_TRUE(Store::Create(path_)->Exec(sql).ok());
    const absl::Status status = Store::Open(path_).status();
    EXPECT_EQ(status.ok() || absl::IsInvalidArgument(status), true) << status;
    EXPECT_EQ(Store::OpenForWriting(path_).status(), status);
    return std::string(Message(status));
  };
  EXPECT_THAT(message_after("DROP TABLE compile_alarm"), HasSubstr("which has no compile_alarm."));
  EXPECT_THAT(message_after("ALTER TABLE compile RENAME COLUMN dur_ns TO ns"),
              HasSubstr("which has no compile.dur_ns. Import its sources again"));
  EXPECT_THAT(message_after("ALTER TABLE source ADD COLUMN sha256 TEXT"),
              HasSubstr("which has a column source.sha256. Import its sources again"));
  EXPECT_EQ(message_after("CREATE TABLE of_the_user (id)"), "");
}

TEST_F(StoreTest, NewerSchemaIsRefusedWithBothVersions) {
  {
    Store store = *Store::Create(path_);
    ASSERT_TRUE(store.Exec(fmt::format("PRAGMA user_version={}", kSchemaVersion + 41)).ok());
  }
  absl::Status status = Store::Open(path_).status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr(fmt::to_string(kSchemaVersion + 41)));
  EXPECT_THAT(std::string(Message(status)), HasSubstr(fmt::format("knows {}", kSchemaVersion)));
}

// golden/stores/unreleased_build has the message.
TEST_F(StoreTest, AStoreOfAnUnreleasedBuildIsRefusedAndStays) {
  fs::copy_file(kGolden / "stores/unreleased_build/run.xlaprof", path_);
  const std::string before = ReadFile(path_);
  const absl::Status status = Store::Open(path_).status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_EQ(Store::OpenForWriting(path_).status(), status);
  Store into = *Store::CreateTemporary();
  EXPECT_EQ(ReadDamagedStore(path_, into).status(), status);
  EXPECT_EQ(ReadFile(path_), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

// golden/stores has the expected report.
TEST_F(StoreTest, TheKeptStoreOfThisSchemaOpens) {
  const fs::path path =
      kGolden / "stores" / fmt::format("schema_{}", kSchemaVersion) / "run.xlaprof";
  ASSERT_TRUE(fs::exists(path))
      << path << " is missing. kSchemaVersion is " << kSchemaVersion
      << ", and a store of it is kept. tests/golden/ORIGIN.md says how to record one";
  const auto store = Store::Open(path);
  ASSERT_TRUE(store.ok()) << store.status() << "\nIf schema.sql changes, raise kSchemaVersion";
  for (const char* table : {"step", "compile", "execution", "transfer", "graph_node", "event",
                            "arg", "counter_sample"})
    EXPECT_GT(*store->One<int64_t>(fmt::format("SELECT count(*) FROM {}", table)), 0) << table;
}

TEST_F(StoreTest, OpenLeavesNoTrace) {
  {
    Store store = *Store::Create(path_);
    EventWriter writer(store);
    ASSERT_TRUE(Commit(store, writer, 0).ok());
  }
  auto listing = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  };
  EXPECT_EQ(listing(), std::set<std::string>{"run.xlaprof"});  // a clean close leaves one file
  const std::string before = ReadFile(path_);
  const auto time = fs::last_write_time(path_);
  {
    Store store = *Store::Open(path_);
    EXPECT_EQ(WholeCommits(store), 50);
    ASSERT_TRUE(
        store
            .Restrict(
                {.first_step = {}, .last_step = {}, .from_ns = 3, .to_ns = {}, .process_id = {}})
            .ok());
    EXPECT_FALSE(store.SetMeta("a", "b").ok());
    EXPECT_EQ(listing(), std::set<std::string>{"run.xlaprof"});
  }
  EXPECT_EQ(listing(), std::set<std::string>{"run.xlaprof"});
  EXPECT_EQ(ReadFile(path_), before);
  EXPECT_EQ(fs::last_write_time(path_), time);
}

// Regression: a report on one process showed the alarms and weights of all processes.
TEST_F(StoreTest, WhateverBelongsToAProcessIsSliced) {
  std::set<std::string> known;
  for (const TableTraits& table : kTables) {
    if (table.Has("process_id")) known.emplace(table.name);
  }
  Store store = *Store::Create(path_);
  EXPECT_THAT(
      *store.Collect("SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE "
                     "c.name = 'process_id'",
                     [](std::string name) { return name; }),
      ::testing::UnorderedElementsAreArray(known));
  ASSERT_TRUE(
      store.Exec("INSERT INTO process (id, source_id, segment) VALUES (1, 1, 0), (2, 1, 0)").ok());
  for (const std::string& table : known) {
    std::string names, values;
    ASSERT_TRUE(store
                    .Each(
                        "SELECT name FROM pragma_table_info(?1) WHERE name <> 'id'",
                        [&](std::string name) {
                          names += (names.empty() ? "" : ", ") + name;
                          values += values.empty() ? "" : ", ";
                          values += name == "process_id" ? "?1" : "0";
                          return absl::OkStatus();
                        },
                        table)
                    .ok());
    for (int process : {1, 2})
      ASSERT_TRUE(
          store.Run(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, values), process)
              .ok())
          << table;
  }
  ASSERT_TRUE(store.Exec("INSERT INTO counter SELECT id, 'a', 1 FROM metrics_report").ok());
  ASSERT_TRUE(store.Restrict({.process_id = 2}).ok());
  auto count = [&](std::string_view table) {
    return store.One<int64_t>(fmt::format("SELECT count(*) FROM {}", table))->value_or(-1);
  };
  for (const std::string& table : known) {
    if (TraitsOf(table).outlives_run) continue;
    EXPECT_EQ(count(table), 1) << table;
  }
  EXPECT_EQ(count("step"), 1);
  EXPECT_EQ(count("counter"), 1);
}

// Regression: the window of one process's steps was that of all processes, and steps outside of
// every profile showed the events of other steps.
TEST_F(StoreTest, WindowOfStepsIsTheirOwn) {
  {
    Store store = *Store::Create(path_);
    ASSERT_TRUE(
        store
            .Exec("INSERT INTO process (id, segment) VALUES (1, 0), (2, 0);"
                  "INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, "
                  "'host_thread', 'a', 0), (2, 2, 'host_thread', 'b', 0);"
                  "INSERT INTO step (process_id, ordinal, ts_ns, dur_ns) VALUES (1, 0, 100, 10), "
                  "(1, 1, 110, 10), (2, 0, 500, 10), (2, 1, 510, 10), (2, 2, NULL, NULL)")
            .ok());
    EventWriter writer(store);
    for (int64_t track : {1, 2}) {
      for (int64_t ts : {102, 112, 502, 512})
        ASSERT_TRUE(writer.Add(track, {.ts_ns = ts, .dur_ns = 5}).ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
  }
  auto events = [&](const Slice& slice) {
    Store store = *Store::Open(path_);
    const absl::Status status = store.Restrict(slice);
    EXPECT_TRUE(status.ok()) << status;
    EventScanner scanner = *EventScanner::Make(store, {});
    EventBatch batch;
    size_t count = 0;
    while (*scanner.Next(&batch)) count += batch.size;
    return count;
  };
  EXPECT_EQ(events({.first_step = 0, .last_step = 0, .process_id = 1}), 1u);
  EXPECT_EQ(events({.first_step = 0, .last_step = 1, .process_id = 2}), 2u);
  EXPECT_EQ(events({.first_step = 1, .last_step = 2, .process_id = 2}), 1u);
  EXPECT_EQ(events({.first_step = 2, .last_step = 2}), 0u);
  Store store = *Store::Open(path_);
  EXPECT_THAT(std::string(Message(store.Restrict({.first_step = 2, .process_id = 1}))),
              ::testing::HasSubstr("The steps of this process are 0 to 1"));
}

// Stores are often read from a mounted artifact directory that is read-only.
TEST_F(StoreTest, OpensInAFolderThatCannotBeWritten) {
  {
    Store store = *Store::Create(path_);
    EventWriter writer(store);
    ASSERT_TRUE(Commit(store, writer, 0).ok());
  }
  fs::permissions(path_, fs::perms::all);
  fs::permissions(folder_, fs::perms::all & ~fs::perms::owner_write & ~fs::perms::group_write &
                               ~fs::perms::others_write);
  pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);  // root may write anywhere
    auto store = Store::Open(path_);
    _exit(store.ok() && WholeCommits(*store) == 50 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// Regression: recovering a hostile recording ran the triggers in its file.
TEST_F(StoreTest, TriggersOfAFileDoNotRun) {
  {
    Store store = *Store::Create(path_);
    ASSERT_TRUE(store
                    .Exec("CREATE TRIGGER evil AFTER INSERT ON meta BEGIN "
                          "INSERT INTO string (id, text) VALUES (7, 'evil'); END")
                    .ok());
  }
  Store store = *Store::OpenForWriting(path_);
  ASSERT_TRUE(store.SetMeta("a", "b").ok());
  EXPECT_EQ(store.Text(7), "");
}

TEST_F(StoreTest, WhatIsNoStoreIsNamedOnce) {
  std::ofstream(path_) << std::string(4096, 'x');
  const absl::Status status = Store::Open(path_).status();
  EXPECT_THAT(std::string(Message(status)),
              ::testing::StartsWith(path_.string() + ": not a store"));
}

// Regression: one row with a huge id made readers allocate 16 bytes for every smaller id.
TEST_F(StoreTest, HugeStringIdsCostNothing) {
  Store store = *Store::CreateTemporary();
  ASSERT_TRUE(
      store
          .Exec(
              "INSERT INTO string (id, text) VALUES (4294967295, 'far'), (3, 'near'), (99999999999, "
              "'no id'), (-1, 'none')")
          .ok());
  EXPECT_EQ(store.Text(4294967295), "far");
  EXPECT_EQ(store.Text(3), "near");
  EXPECT_EQ(store.Text(4000000000), "");
  EXPECT_EQ(store.Find("far"), 4294967295);
  EXPECT_EQ(store.Find("no id"), 0u);
  EXPECT_EQ(*store.Intern("near"), 3u);
  EXPECT_EQ(*store.Intern("new"), 4u);
  EXPECT_EQ(store.Text(4), "new");
}

}  // namespace
}  // namespace xlaprof
