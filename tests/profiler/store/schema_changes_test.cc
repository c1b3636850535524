#include "profiler/store/schema_changes.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/temporary_folder.h"
#include "tests/golden_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A file that SQLite alone opens, as any other program could.
class Database {
 public:
  explicit Database(const fs::path& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK) << path;
  }
  ~Database() { sqlite3_close_v2(db_); }
  void Exec(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  }
  int64_t SchemaVersion() {
    sqlite3_stmt* stmt = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, "PRAGMA user_version", -1, &stmt, nullptr), SQLITE_OK);
    Statement statement(stmt);
    EXPECT_EQ(sqlite3_step(stmt), SQLITE_ROW);
    return sqlite3_column_int64(stmt, 0);
  }

 private:
  sqlite3* db_ = nullptr;
};

int64_t Count(const Store& store, std::string_view table) {
  return store.One<int64_t>(fmt::format("SELECT count(*) FROM {}", table))->value_or(-1);
}

// golden/stores has the expected report on each.
TEST(ReleasedStores, OneOfEachSchemaOpens) {
  for (int version = kOldestSchemaVersion; version <= kSchemaVersion; ++version) {
    const fs::path path = kGolden / "stores" / fmt::format("schema_{}", version) / "run.xlaprof";
    ASSERT_TRUE(fs::exists(path))
        << path << " is missing. kSchemaVersion is " << kSchemaVersion
        << ", and a store of each schema is kept. tests/golden/ORIGIN.md says how to record one";
    ASSERT_EQ(Database(path).SchemaVersion(), version) << path << " must stay as it was recorded";
    const auto store = Store::Open(path);
    ASSERT_TRUE(store.ok())
        << store.status() << "\nSchema " << version << " is released. If schema.sql changes, raise "
        << "kSchemaVersion, and add the change to profiler/store/schema_changes.cc";
    for (const char* table : {"step", "compile", "execution", "transfer", "graph_node", "event",
                              "arg", "counter_sample"})
      EXPECT_GT(Count(*store, table), 0) << table << " in " << path;
  }
}

// A store of a schema before ours, which lacks a column.
class OlderStore : public testing::Test {
 protected:
  static constexpr const char* kAddColumn = "ALTER TABLE compile ADD COLUMN temp_bytes INTEGER";

  void SetUp() override {
    Store store = *Store::Create(path_);
    ASSERT_TRUE(store.Add(CompileRow{.ordinal = 7}).ok());
    ASSERT_TRUE(store.Exec("ALTER TABLE compile DROP COLUMN temp_bytes").ok());
  }

  // Says that the store has the oldest schema, so that the changes of a test apply to it.
  void SayItIsTheOldest() const {
    Database(path_).Exec(fmt::format("PRAGMA user_version={}", kOldestSchemaVersion));
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("older");
  const fs::path path_ = folder_.path() / "run.xlaprof";
};

TEST_F(OlderStore, IsChangedInACopy) {
  SayItIsTheOldest();
  const std::string before = ReadFile(path_);
  const char* const changes[] = {kAddColumn};
  const auto store = Store::Open(path_, changes);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(*store->One<int64_t>("SELECT ordinal FROM compile WHERE temp_bytes IS NULL"), 7);
  EXPECT_EQ(*store->One<int64_t>("PRAGMA user_version"), kOldestSchemaVersion + 1);
  EXPECT_EQ(store->path(), path_.string());
  EXPECT_EQ(ReadFile(path_), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(OlderStore, IsRefusedWithoutTheChange) {
  EXPECT_THAT(std::string(Message(Store::Open(path_).status())),
              HasSubstr("which has no compile.temp_bytes"));
}

TEST_F(OlderStore, GetsOnlyTheChangesThatFollowIt) {
  Database(path_).Exec(fmt::format("PRAGMA user_version={}", kOldestSchemaVersion + 1));
  const char* const changes[] = {"not SQL", kAddColumn};
  const auto store = Store::Open(path_, changes);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(*store->One<int64_t>("PRAGMA user_version"), kOldestSchemaVersion + 2);
}

// A program that was built with an older xlaprof may still be recording.
TEST_F(OlderStore, OpensWhileItIsWritten) {
  SayItIsTheOldest();
  Database writer(path_);
  writer.Exec("PRAGMA journal_mode=WAL; INSERT INTO compile (ordinal, inferred) VALUES (8, 0)");
  const char* const changes[] = {kAddColumn};
  const auto store = Store::Open(path_, changes);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(Count(*store, "compile"), 2);
}

TEST_F(OlderStore, OfAHostileFileRunsNoneOfItsSql) {
  SayItIsTheOldest();
  Database(path_).Exec(
      "DROP TABLE setting; CREATE VIEW setting AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
      "SELECT i + 1 FROM n) SELECT i AS name FROM n");
  const char* const changes[] = {"UPDATE compile SET ordinal = (SELECT count(*) FROM setting)"};
  EXPECT_THAT(std::string(Message(Store::Open(path_, changes).status())),
              HasSubstr("its setting is not a plain table"));
}

TEST_F(OlderStore, StaysAsItIsIfAChangeFails) {
  const char* const changes[] = {kAddColumn, "not SQL"};
  EXPECT_FALSE(Store::Open(path_, changes).ok());
  Store store = *Store::Create(folder_.path() / "other.xlaprof");
  const char* const half[] = {"CREATE TABLE added (id INTEGER)", "not SQL"};
  EXPECT_FALSE(ChangeSchema(store, kOldestSchemaVersion, half).ok());
  EXPECT_EQ(Count(store, "sqlite_schema WHERE name = 'added'"), 0);
  EXPECT_EQ(*store.One<int64_t>("PRAGMA user_version"), kSchemaVersion);
}

}  // namespace
}  // namespace xlaprof
