// Tests the SQLite exporter. Its file is read here with plain SQLite, without our virtual tables.
#include "profiler/store/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analyzers/analyzer.h"
#include "exporters/exporter.h"
#include "tests/golden_case.h"

namespace xlaprof {

extern const Analyzer fallback;
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Exporter& Sqlite() { return *FindExporter("sqlite"); }

class SqliteExport : public testing::Test {
 protected:
  SqliteExport() {
    std::string name = (fs::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SqliteExport() override {
    sqlite3_close(db_);
    fs::remove_all(folder_);
  }
  void Export(const Findings& findings = {}) {
    auto exported = Sqlite().write(xlaprof::Run(store_), findings, {.path = folder_ / "run.db"});
    ASSERT_TRUE(exported.ok()) << exported.status();
    EXPECT_THAT(exported->left_out, IsEmpty());
    ASSERT_EQ(sqlite3_open((folder_ / "run.db").c_str(), &db_), SQLITE_OK);
  }
  // Returns rows, with columns separated by |.
  std::vector<std::string> Rows(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db_);
    std::vector<std::string> rows;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
      std::string row;
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        row += (i == 0 ? "" : "|") + std::string(text == nullptr ? "NULL" : text);
      }
      rows.push_back(row);
    }
    EXPECT_EQ(code, SQLITE_DONE) << sqlite3_errmsg(db_);
    sqlite3_finalize(statement);
    return rows;
  }
  // Runs the same query on the store, whose tables are virtual.
  std::vector<std::string> RowsOfStore(const std::string& sql) {
    sqlite3* db = std::exchange(db_, store_.db());
    std::vector<std::string> rows = Rows(sql);
    db_ = db;
    return rows;
  }
  fs::path folder_;
  Store store_ = FindGoldenCase("export_timeline/every_kind").MakeStore().value();
  sqlite3* db_ = nullptr;
};

TEST_F(SqliteExport, RowsAreThoseOfTheStore) {
  Export();
  for (const char* sql :
       {"SELECT id, track_id, ts_ns, dur_ns, name, category, depth, flow_in, flow_out FROM event "
        "ORDER BY id",
        "SELECT event_id, key, type, value, typeof(value) FROM arg ORDER BY 1, 2, 4",
        "SELECT from_event_id, to_event_id, flow FROM flow ORDER BY 1, 2",
        "SELECT track_id, ts_ns, value FROM counter_sample ORDER BY 1, 2",
        "SELECT * FROM track ORDER BY id", "SELECT * FROM process ORDER BY id",
        "SELECT * FROM step ORDER BY id", "SELECT * FROM run"}) {
    std::vector<std::string> rows = Rows(sql);
    EXPECT_FALSE(rows.empty()) << sql;
    EXPECT_EQ(rows, RowsOfStore(sql)) << sql;
  }
  EXPECT_THAT(Rows("PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_THAT(Rows("SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%VIRTUAL%'"),
              ElementsAre("0"));
}

TEST_F(SqliteExport, EveryTableOfFactsIsThere) {
  Export();
  auto names = [](const char* schema) {
    return fmt::format(
        "SELECT name FROM {} WHERE type = 'table' AND name NOT LIKE '%_chunk' AND "
        "name NOT IN ('string', 'event', 'arg', 'flow', 'counter_sample') AND name "
        "NOT LIKE 'sqlite_%' ORDER BY 1",
        schema);
  };
  EXPECT_EQ(Rows(names("sqlite_schema")), RowsOfStore(names("main.sqlite_schema")));
}

TEST_F(SqliteExport, EveryViewAnswers) {
  Findings findings(1);
  findings[0] = {.analyzer = &fallback,
                 .severity = Severity::kWarning,
                 .subject = {.file = "train.py", .line = 9},
                 .cost_ns = 2'500'000,
                 .words = {.title = "aten::x ran on the CPU", .advice = "use y"}};
  Export(findings);
  std::vector<std::string> views = Rows("SELECT name FROM sqlite_schema WHERE type = 'view'");
  EXPECT_GE(views.size(), 7u);
  for (const std::string& view : views) Rows("SELECT * FROM " + view);
  EXPECT_THAT(Rows("SELECT rank, severity, kind, title, cost_ms, file, line, advice FROM findings"),
              ElementsAre("1|warning|fallback|aten::x ran on the CPU|2.5|train.py|9|use y"));
  EXPECT_THAT(Rows("SELECT number, start_ms, dur_ms, compiles FROM steps WHERE process_id = 1"),
              ElementsAre("7|0.0|1.0|0", "8|0.9|1.0|0", "2|NULL|NULL|0"));
  EXPECT_THAT(Rows("SELECT name, start_ms, dur_ms, track, device, process, rank FROM slice WHERE "
                   "id = 60"),
              ElementsAre("jit_train|5.0e-06|2.0e-05|XLA Modules|TPU:0|python train.py|0"));
  EXPECT_THAT(Rows("SELECT total_ms FROM time_by_name WHERE name = 'launch'"),
              ElementsAre("2.5e-05"));
}

TEST_F(SqliteExport, ViewsCountFromTheStartAndOnce) {
  store_ = *Store::CreateTemporary();
  const absl::Status status = RunSqlScript(
      store_,
      "INSERT INTO process (id, segment) VALUES (1, 0);"
      "INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'a', 0), "
      "(2, 1, 'async', 'b', 1);"
      "INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES (1, 1, 0, NULL, NULL, 5000000, 2000000), "
      "(2, 1, 1, NULL, NULL, NULL, NULL);"
      "INSERT INTO site (id, function, file, line) VALUES (1, 'f', 'train.py', 9);"
      "INSERT INTO graph (id, process_id, name) VALUES (1, 1, 'jit_f');"
      "INSERT INTO compile (process_id, ordinal, graph_id, site_id, inferred) VALUES (1, 0, 1, 1, "
      "0);"
      "INSERT INTO execution (process_id, ordinal, graph_id) VALUES (1, 1, 1);"
      "INSERT INTO event (track_id, ts_ns, dur_ns, name) VALUES (1, 5000000, 4000000, 'outer'), "
      "(1, 5000000, 1000000, 'inner'), (1, 7000000, 2000000, 'outer'), (1, 9000000, 1000000, "
      "'inner'), (2, 5000000, 1000000, 'request'), (2, 5100000, 1000000, 'request')");
  ASSERT_TRUE(status.ok()) << status;
  Export();
  EXPECT_THAT(Rows("SELECT name, start_ms FROM slice ORDER BY id"),
              ElementsAre("outer|0.0", "inner|0.0", "outer|2.0", "inner|4.0", "request|0.0",
                          "request|0.1"));
  EXPECT_THAT(Rows("SELECT number, start_ms, transfers FROM steps"),
              ElementsAre("0|0.0|0", "1|NULL|NULL"));
  EXPECT_THAT(Rows("SELECT name, events, total_ms, self_ms FROM time_by_name ORDER BY name"),
              ElementsAre("inner|2|2.0|2.0", "outer|2|6.0|3.0", "request|2|2.0|2.0"));
  EXPECT_THAT(Rows("SELECT file, line, executions FROM executions_by_site"),
              ElementsAre("train.py|9|1"));
}

TEST_F(SqliteExport, SliceHoldsWholePairsOnly) {
  ASSERT_TRUE(store_.Restrict({.from_ns = 30, .to_ns = 95, .process_id = 2}).ok());
  Export();
  EXPECT_THAT(Rows("SELECT id FROM event ORDER BY id"), ElementsAre("32", "33", "41", "42", "43"));
  EXPECT_THAT(Rows("SELECT from_event_id, to_event_id FROM flow ORDER BY 1"),
              ElementsAre("32|43", "33|43"));
  EXPECT_THAT(Rows("SELECT count(*) FROM step"), ElementsAre("0"));
}

// Regression: the SQL that a store claims as its schema was executed, and attached other files.
TEST_F(SqliteExport, SchemaOfTheInputIsNotExecuted) {
  const fs::path path = folder_ / "hostile.xlaprof", other = folder_ / "other.db";
  {
    Store store = *Store::Create(path);
    ASSERT_TRUE(store.Exec("CREATE TABLE evil (a); PRAGMA writable_schema = ON").ok());
    ASSERT_TRUE(store
                    .Run("UPDATE sqlite_schema SET sql = ?1 WHERE name = 'evil'",
                         fmt::format("CREATE TABLE evil (a); COMMIT; ATTACH '{}' AS other; CREATE "
                                     "TABLE other.evil (a); BEGIN",
                                     other.string()))
                    .ok());
  }
  store_ = *Store::Open(path);
  Export();
  EXPECT_FALSE(fs::exists(other));
  EXPECT_THAT(Rows("SELECT name FROM sqlite_schema WHERE name = 'evil'"), IsEmpty());
}

// Regression: when a store proved damaged during the export, its intact pages were exported into
// the file that had been begun.
TEST_F(SqliteExport, BeginsAnew) {
  std::ofstream(folder_ / "run.db") << "half a file";
  Export();
  EXPECT_THAT(Rows("SELECT count(*) > 0 FROM event"), ElementsAre("1"));
}

TEST_F(SqliteExport, SaysWhenItCannotWrite) {
  auto exported = Sqlite().write(xlaprof::Run(store_), {}, {.path = folder_ / "no/such"});
  EXPECT_THAT(std::string(Message(exported.status())), HasSubstr("no/such: cannot open"));
}

}  // namespace
}  // namespace xlaprof
