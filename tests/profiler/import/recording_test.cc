// Tests that several stores of our own recorder are read as one run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/temporary_folder.h"
#include "profiler/import/import.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

struct Column {
  std::string name, refers_to;  // according to the comments of schema.sql
};

std::map<std::string, std::vector<Column>> Schema() {
  std::ifstream file(fs::path(XLAPROF_SOURCE_DIR) / "profiler/store/schema.sql");
  std::map<std::string, std::vector<Column>> tables;
  std::string line, table;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string first, second, third;
    words >> first >> second >> third;
    if (first == "CREATE" && second == "TABLE") table = third;
    if (!line.starts_with("  ") || first.starts_with("PRIMARY") || first.starts_with("UNIQUE"))
      continue;
    const size_t ref = line.find("-- ref ");
    const size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", ref + 7);
    tables[table].push_back({first, ref == line.npos ? "" : line.substr(ref + 7, end - ref - 7)});
  }
  return tables;
}

// These tables are imported in their own way, or hold what the reader makes.
const std::vector<std::string> kNotFacts = {
    "meta",        "run",       "source",           "process",    "import_issue", "string",
    "track",       "recording", "recording_thread", "site",       "stack",        "frame",
    "event_chunk", "arg_chunk", "counter_chunk",    "provenance", "finding"};

constexpr int64_t kId = 7, kTimeNs = 100;

// Writes a store with one row in each table of facts.
absl::Status WriteStore(const fs::path& path, int64_t base_epoch_ns, int64_t pid) {
  XP_TRY(Store store, Store::Create(path));
  XP_TRY(store.SetMeta("base_epoch_ns", fmt::to_string(base_epoch_ns)));
  XP_TRY(
      store.Run("INSERT INTO process (id, segment, host, pid) VALUES (?1, 0, 'a', ?2)", kId, pid));
  XP_TRY(store.Exec(
      "INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES (7, 7, 'host_thread', 'main', 1, NULL, NULL, 0);"
      "INSERT INTO recording (id, process_id, ring, ring_key, ended, clock, drain_cpu_ns) VALUES (7, 7, 'a.ring', lower(hex(randomblob(16))), 1, 'tsc', NULL);"
      "INSERT INTO site (id, function, file, line) VALUES (7, 'f', 'a.py', 1);"
      "INSERT INTO stack (id, hash) VALUES (7, 'x');"
      "INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES (7, 0, 'f', 'a.py', 1, 'user'), (7, 1, 'g', 'a.py', 9, 'user')"));
  for (const auto& [table, columns] : Schema()) {
    if (std::ranges::find(kNotFacts, table) != kNotFacts.end()) continue;
    std::string values;
    for (const Column& column : columns) {
      const bool is_id = column.name == "id" || !column.refers_to.empty();
      values += values.empty() ? "" : ", ";
      values += is_id                            ? fmt::to_string(kId)
                : column.name.ends_with("ts_ns") ? fmt::to_string(kTimeNs)
                                                 : "1";
    }
    XP_TRY(store.Exec(fmt::format("INSERT INTO {} VALUES ({})", table, values)));
  }
  return store.CloseLog();
}

// Regression: only the events of a lazy program's recordings in one folder were imported, so the
// report found nothing to fix.
TEST(Recording, EveryFactOfEachIsTaken) {
  auto folder = TemporaryFolder::Make("test");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(WriteStore(folder->path() / "a.xlaprof", 1000, 1).ok());
  ASSERT_TRUE(WriteStore(folder->path() / "b.xlaprof", 1500, 2).ok());
  Store store = *Store::CreateTemporary();
  const absl::Status status = Import({.inputs = {folder->path()}}, store);
  ASSERT_TRUE(status.ok()) << status;
  auto one = [&](const std::string& sql) { return store.One<int64_t>(sql)->value_or(-1); };
  EXPECT_EQ(one("SELECT count(*) FROM site"), 1);
  EXPECT_EQ(one("SELECT count(*) FROM frame"), 2);
  for (const auto& [table, columns] : Schema()) {
    if (std::ranges::find(kNotFacts, table) != kNotFacts.end()) continue;
    EXPECT_EQ(one(fmt::format("SELECT count(*) FROM {}", table)), 2) << table;
    for (const Column& column : columns) {
      if (!column.refers_to.empty()) {
        EXPECT_EQ(one(fmt::format("SELECT count(*) FROM {} WHERE {} IN (SELECT id FROM {})", table,
                                  column.name, column.refers_to)),
                  2)
            << table << "." << column.name;
        const bool is_shared = column.refers_to == "site" || column.refers_to == "stack";
        EXPECT_EQ(one(fmt::format("SELECT count(DISTINCT {}) FROM {}", column.name, table)),
                  is_shared ? 1 : 2)
            << table << "." << column.name;
      }
      if (column.name.ends_with("ts_ns")) {
        EXPECT_THAT(*store.Collect(fmt::format("SELECT {} FROM {} ORDER BY 1", column.name, table),
                                   [](int64_t ns) { return ns; }),
                    ::testing::ElementsAre(kTimeNs, kTimeNs + 500))
            << table << "." << column.name;
      }
    }
  }
}

// Regression: a mark of an evaluation became an additional step if a recording was read with
// others.
TEST(Recording, StepsAreThoseThatItHas) {
  auto folder = TemporaryFolder::Make("test");
  ASSERT_TRUE(folder.ok());
  const fs::path path = folder->path() / "a.xlaprof";
  ASSERT_TRUE(WriteStore(path, 1000, 1).ok());
  {
    Store store = *Store::OpenForWriting(path);
    for (int i = 2; i < 6; ++i) {
      ASSERT_TRUE(store
                      .Add(ExecutionRow{.process_id = kId,
                                        .ordinal = i,
                                        .cause = CutKind::kUserSync,
                                        .step_id = i < 5 ? OptInt(kId) : OptInt()})
                      .ok());
    }
  }
  Store store = *Store::CreateTemporary();
  const absl::Status status = Import({.inputs = {folder->path()}}, store);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(store.One<int64_t>("SELECT count(*) FROM step")->value_or(-1), 1);
  EXPECT_EQ(
      store.One<int64_t>("SELECT count(*) FROM execution WHERE step_id IS NULL")->value_or(-1), 1);
}

// Writes the store of a profile whose window has two cuts; `hash` is compiled in it.
absl::Status WriteProfile(const fs::path& path, const char* format) {
  XP_TRY(Store store, Store::Create(path));
  XP_TRY(store.Exec(fmt::format(
      "INSERT INTO run (id, label, selected, why) VALUES (1, 'r', 1, '');"
      "INSERT INTO source (id, path, format, imported) VALUES (1, 'localhost:9012', '{}', 1);"
      "INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');"
      "INSERT INTO graph (id, process_id, hash) VALUES (1, 1, '{}');"
      "INSERT INTO step (id, process_id, ordinal) VALUES (1, 1, 0), (2, 1, 1);"
      "INSERT INTO compile (process_id, ordinal, graph_id, dur_ns, step_id, inferred) VALUES (1, "
      "0, 1, 70, 1, 0);"
      "INSERT INTO execution (process_id, ordinal, cause, ts_ns, dur_ns, step_id) VALUES (1, 1, "
      "'sync', 10, 5, 1), (1, 2, 'sync', 20, 5, 2)",
      format, std::string(32, 'a'))));
  return absl::OkStatus();
}

// Writes a debug log of three steps, of which the second compiles.
void WriteLog(const fs::path& path) {
  std::ofstream log(path);
  auto block = [&](const char* kind, char hash) {
    log << fmt::format(
        "{0} Analysis: {2}\n{0} Analysis: {0} Cause\n{0} Analysis:   user torch_xla.sync\n"
        "{0} Analysis: Graph Info: \n{0} Analysis:   Graph Hash: {1}\n{0} Analysis:   Number of "
        "Graph Inputs: 2\n{0} Analysis:   Number of Graph Outputs: 1\n{0} Analysis: Python Frame "
        "Triggered Execution: \n{0} Analysis:   step (/u/train.py:7)\n{0} Analysis:   "
        "..........\n{0} Analysis: {3}\n{0} Analysis: {2}\n\n",
        kind, std::string(32, hash), std::string(80, '='), std::string(80, '-'));
  };
  block("Compilation", 'c'), block("Execution", 'c');
  block("Compilation", 'a'), block("Execution", 'a'), block("Execution", 'a');
}

TEST(Recording, TheStoreOfAProfileJoinsWithALog) {
  auto folder = TemporaryFolder::Make("test");
  ASSERT_TRUE(folder.ok());
  const fs::path profile = folder->path() / "run.xlaprof", log = folder->path() / "debug.log";
  ASSERT_TRUE(WriteProfile(profile, "xspace").ok());
  WriteLog(log);
  Store store = *Store::CreateTemporary();
  const absl::Status status = Import({.inputs = {profile, log}}, store);
  ASSERT_TRUE(status.ok()) << status;
  auto number = [&](const char* sql) { return store.One<int64_t>(sql)->value_or(-1); };
  EXPECT_EQ(number("SELECT count(*) FROM process"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM compile"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM compile WHERE dur_ns = 70 AND site_id IS NOT NULL"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM execution"), 3);
  EXPECT_EQ(number("SELECT count(*) FROM execution WHERE ts_ns IS NOT NULL"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM step"), 3);
}

TEST(Recording, TheStoreOfALogIsNotJoinedAgain) {
  auto folder = TemporaryFolder::Make("test");
  ASSERT_TRUE(folder.ok());
  const fs::path path = folder->path() / "run.xlaprof", log = folder->path() / "debug.log";
  ASSERT_TRUE(WriteProfile(path, "debug_log").ok());
  WriteLog(log);
  Store store = *Store::CreateTemporary();
  ASSERT_TRUE(Import({.inputs = {path, log}}, store).ok());
  EXPECT_EQ(store.One<int64_t>("SELECT count(*) FROM source WHERE imported")->value_or(-1), 1);
  EXPECT_EQ(store.One<int64_t>("SELECT count(*) FROM execution")->value_or(-1), 3);
}

// `cp run.xlaprof backup.xlaprof` beside it must not count every event twice.
TEST(Recording, OfACopyIsTakenOnce) {
  auto folder = TemporaryFolder::Make("test");
  ASSERT_TRUE(folder.ok());
  const fs::path first = folder->path() / "a.xlaprof";
  ASSERT_TRUE(WriteStore(first, 1000, 1).ok());
  fs::copy(first, folder->path() / "b.xlaprof");
  Store store = *Store::CreateTemporary();
  const absl::Status status = Import({.inputs = {folder->path()}}, store);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(*store.One<int64_t>("SELECT count(*) FROM execution"), 1);
  EXPECT_EQ(*store.One<std::string>("SELECT derived_from FROM source WHERE NOT imported"),
            first.string());
}

}  // namespace
}  // namespace xlaprof
