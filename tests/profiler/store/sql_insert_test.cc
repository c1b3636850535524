// Tests INSERT into the virtual tables, and stores made from SQL text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/store/events.h"
#include "profiler/store/sql_script.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The tests use a file because a temporary store has no journal and cannot roll back.
class SqlInsert : public testing::Test {
 protected:
  ~SqlInsert() override { std::filesystem::remove_all(folder_); }
  static std::filesystem::path Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "xlaprofXXXXXX").string();
    return mkdtemp(name.data());
  }
  std::vector<std::string> Rows(const std::string& sql) {
    std::vector<std::string> rows;
    auto statement = store_.Prepare(sql);
    EXPECT_TRUE(statement.ok()) << statement.status();
    while (statement.ok()) {
      auto row = statement->Step();
      EXPECT_TRUE(row.ok()) << row.status();
      if (!row.ok() || !*row) break;
      std::string text;
      for (int i = 0; i < sqlite3_column_count(statement->get()); ++i) {
        text += (i ? " " : "") +
                (statement->IsNull(i) ? std::string("-") : statement->Column<std::string>(i));
      }
      rows.push_back(text);
    }
    return rows;
  }
  void Do(const std::string& sql) {
    absl::Status status = store_.Exec(sql);
    EXPECT_TRUE(status.ok()) << status << "\n" << sql;
  }
  std::string Error(const std::string& sql) { return std::string(Message(store_.Exec(sql))); }

  std::filesystem::path folder_ = Folder();
  Store store_ = *Store::Create(folder_ / "run.xlaprof");
};

TEST_F(SqlInsert, OneByOneWithoutTransaction) {
  Do("INSERT INTO event (track_id, ts_ns, dur_ns, name, category) VALUES (1, 100, 50, 'step', "
     "'step')");
  Do("INSERT INTO event (track_id, ts_ns, name) VALUES (1, 110, 'open')");
  Do("INSERT INTO counter_sample VALUES (7, 5, 2.5)");
  EXPECT_THAT(Rows("SELECT id, track_id, ts_ns, dur_ns, name, category, depth, flow_in, flow_out "
                   "FROM event"),
              ElementsAre("1 1 100 50 step step 0 - -", "2 1 110 - open - 0 - -"));
  EXPECT_THAT(Rows("SELECT * FROM counter_sample"), ElementsAre("7 5 2.5"));
}

TEST_F(SqlInsert, ArgumentsOfEveryType) {
  Do(R"(BEGIN;
    INSERT INTO arg (event_id, key, value) VALUES (5, 'int', -3), (5, 'real', 0.5), (5, 'text', 'a''b'), (5, 'bytes', x'00ff');
    INSERT INTO arg (event_id, key, value, type) VALUES (5, 'uint', 7, 'uint'), (5, 'big', '18446744073709551615', 'uint'),
                                                        (5, 'whole', 2, 'double'), (5, 'blob', 'xy', 'bytes'), (5, 'empty', '', 'string');
    INSERT INTO event (id, track_id, ts_ns, dur_ns, name) VALUES (5, 1, 0, 1, 'e');
    COMMIT)");
  EXPECT_THAT(Rows("SELECT event_id, key, type, typeof(value), iif(typeof(value) = 'blob', "
                   "hex(value), value) FROM arg ORDER BY key"),
              ElementsAre("5 big uint text 18446744073709551615", "5 blob bytes blob 7879",
                          "5 bytes bytes blob 00FF", "5 empty string text ", "5 int int integer -3",
                          "5 real double real 0.5", "5 text string text a'b",
                          "5 uint uint integer 7", "5 whole double real 2.0"));
}

TEST_F(SqlInsert, GivenIdsComeOutAgain) {
  Do(R"(BEGIN;
    INSERT INTO event (id, track_id, ts_ns, dur_ns, name) VALUES
      (1000, 1, 0, 100, 'outer'), (3, 1, 10, 20, 'inner'), (4, 1, 12, 3, 'innermost'), (1001, 1, 40, 5, 'second'), (2, 2, 0, 9, 'other');
    INSERT INTO event (track_id, ts_ns, dur_ns, name) VALUES (2, 5, 1, 'late'), (2, 1, 1, 'early');
    INSERT INTO arg (event_id, key, value) VALUES (4, 'k', 'of innermost'), (1001, 'k', 'of second'), (last_insert_rowid(), 'k', 0);
    COMMIT)");
  EXPECT_THAT(Rows("SELECT id, track_id, name, depth FROM event ORDER BY id"),
              ElementsAre("2 2 other 0", "3 1 inner 1", "4 1 innermost 2", "1000 1 outer 0",
                          "1001 1 second 1", "1002 2 early 1", "1003 2 late 1"));
  EXPECT_THAT(Rows("SELECT e.name, a.value FROM arg a JOIN event e ON e.id = a.event_id WHERE "
                   "a.key = 'k' AND e.id > 2 AND e.id < 1002 ORDER BY 1"),
              ElementsAre("innermost of innermost", "second of second"));
  Do("INSERT INTO event (track_id, ts_ns, name) VALUES (1, 0, 'next')");
  EXPECT_THAT(Rows("SELECT id FROM event WHERE name = 'next'"), ElementsAre("1004"));
  EventWriter writer(store_);
  ASSERT_TRUE(writer.Add(3, {.ts_ns = 0, .dur_ns = 0, .name = store_.Find("next")}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_THAT(Rows("SELECT id FROM event WHERE track_id = 3"), ElementsAre("1005"));
}

TEST_F(SqlInsert, StandInNamesTheEventJustInserted) {
  Do(R"(BEGIN;
    INSERT INTO event (track_id, ts_ns, name) VALUES (1, 9, 'b');
    INSERT INTO arg (event_id, key, value) VALUES (last_insert_rowid(), 'of', 'b');
    INSERT INTO event (track_id, ts_ns, name) VALUES (1, 3, 'a');
    INSERT INTO arg (event_id, key, value) SELECT last_insert_rowid(), 'of', 'a';
    COMMIT)");
  EXPECT_THAT(Rows("SELECT e.name, a.value, e.id FROM event e JOIN arg a ON a.event_id = e.id "
                   "ORDER BY e.id"),
              ElementsAre("a a 1", "b b 2"));
}

TEST_F(SqlInsert, CopyOfATableIsThatTable) {
  Do(R"(BEGIN;
    INSERT INTO event (track_id, ts_ns, dur_ns, name, category, flow_in, flow_out)
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 69999)
      SELECT i % 3, (i * 7919) % 100000, i % 90, 'name' || i % 11, iif(i % 2, 'op', NULL), nullif(i % 5, 0), nullif(i % 7, 0) FROM n;
    COMMIT)");
  EXPECT_THAT(Rows("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM event"),
              ElementsAre("70000 70000 1 70000"));
  EXPECT_THAT(Rows("SELECT count(*) FROM event_chunk"), ElementsAre("3"));
  Store copy = *Store::CreateTemporary();
  ASSERT_TRUE(copy.Begin().ok());
  auto insert = copy.Prepare(
      "INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category, flow_in, flow_out) VALUES "
      "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  ASSERT_TRUE(insert.ok());
  ASSERT_TRUE(store_
                  .Each("SELECT id, track_id, ts_ns, dur_ns, name, category, flow_in, flow_out "
                        "FROM event ORDER BY dur_ns",
                        [&](int64_t id, int64_t track, int64_t ts, OptInt dur, std::string name,
                            OptText category, OptInt in, OptInt out) {
                          insert->Reset();
                          insert->Bind(1, id), insert->Bind(2, track), insert->Bind(3, ts),
                              insert->Bind(4, dur);
                          insert->Bind(5, name), insert->Bind(6, category), insert->Bind(7, in),
                              insert->Bind(8, out);
                          EXPECT_TRUE(insert->Step().ok());
                        })
                  .ok());
  ASSERT_TRUE(copy.Commit().ok());
  auto sum = [](const Store& store) {
    return *store.One<std::string>(
        "SELECT group_concat(x) FROM (SELECT id || name || ts_ns || coalesce(dur_ns, '') || "
        "coalesce(category, '') || "
        "depth || coalesce(flow_in, '') || coalesce(flow_out, '') AS x FROM event ORDER BY id)");
  };
  EXPECT_EQ(sum(copy), sum(store_));
}

TEST_F(SqlInsert, RollbackLeavesNothing) {
  Do("BEGIN; INSERT INTO event (id, track_id, ts_ns, name) VALUES (1, 1, 1, 'gone'); INSERT INTO "
     "arg (event_id, key, value) VALUES (1, 'k', 1); ROLLBACK");
  Do("BEGIN; COMMIT");
  EXPECT_THAT(Rows("SELECT * FROM event"), IsEmpty());
  EXPECT_THAT(Rows("SELECT * FROM string"), IsEmpty());
  Do(R"(BEGIN;
    INSERT INTO event (track_id, ts_ns, name) VALUES (1, 1, 'kept');
    SAVEPOINT a;
    INSERT INTO event (track_id, ts_ns, name) VALUES (1, 2, 'undone');
    INSERT INTO counter_sample VALUES (1, 1, 1);
    ROLLBACK TO a;
    INSERT INTO event (track_id, ts_ns, name) VALUES (1, 3, 'after');
    RELEASE a;
    COMMIT)");
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("kept", "after"));
  EXPECT_THAT(Rows("SELECT * FROM counter_sample"), IsEmpty());
}

TEST_F(SqlInsert, FailedStatementTakesItsRowsBack) {
  Do("BEGIN; INSERT INTO event (track_id, ts_ns, name) VALUES (1, 1, 'kept')");
  EXPECT_THAT(
      Error("INSERT INTO event (track_id, ts_ns, name) VALUES (1, 2, 'half'), (1, 'soon', 'bad')"),
      HasSubstr("event.ts_ns must be an integer"));
  Do("COMMIT");
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("kept"));
}

TEST_F(SqlInsert, SaysWhatIsWrong) {
  Do("INSERT INTO event (id, track_id, ts_ns, dur_ns, name) VALUES (8, 1, 1, 1, 'e')");
  EXPECT_THAT(Error("DELETE FROM event"), HasSubstr("DELETE is not supported"));
  EXPECT_THAT(Error("UPDATE event SET name = 'x'"), HasSubstr("UPDATE is not supported"));
  EXPECT_THAT(Error("INSERT INTO event (id, track_id, ts_ns, name) VALUES (8, 1, 1, 'e')"),
              HasSubstr("event 8 already exists"));
  EXPECT_THAT(
      Error("INSERT INTO event (id, track_id, ts_ns, name) VALUES (9, 1, 1, 'e'), (9, 1, 2, 'f')"),
      HasSubstr("event 9 already exists"));
  EXPECT_THAT(Error("INSERT INTO event (id, track_id, ts_ns, name) VALUES (-4, 1, 1, 'e')"),
              HasSubstr("must be positive"));
  EXPECT_THAT(Error("INSERT INTO event (track_id, ts_ns) VALUES (1, 1)"),
              HasSubstr("event.name is NULL"));
  EXPECT_THAT(Error("INSERT INTO event (track_id, ts_ns, dur_ns, name) VALUES (1, 1, -5, 'e')"),
              HasSubstr("negative"));
  EXPECT_THAT(Error("INSERT INTO event (track_id, ts_ns, name, depth) VALUES (1, 1, 'e', 0)"),
              HasSubstr("cannot be set"));
  EXPECT_THAT(Error("INSERT INTO arg (event_id, key, value) VALUES (8, 'k', 1)"),
              HasSubstr("event 8 was not inserted in the same transaction"));
  EXPECT_THAT(Error("INSERT INTO arg (event_id, key, value) VALUES (8, 'k', NULL)"),
              HasSubstr("NULL"));
  EXPECT_THAT(Error("INSERT INTO arg (event_id, key, value, type) VALUES (8, 'k', -1, 'uint')"),
              HasSubstr("is not of type uint"));
  EXPECT_THAT(Error("INSERT INTO arg (event_id, key, value, type) VALUES (8, 'k', 1, 'float')"),
              HasSubstr("not one of int, uint"));
  EXPECT_THAT(Error("INSERT INTO counter_sample VALUES (1, 1, 'much')"),
              HasSubstr("must be a number"));
  EXPECT_THAT(Rows("SELECT id FROM event"), ElementsAre("8"));
  EXPECT_THAT(Rows("SELECT * FROM arg"), IsEmpty());
}

TEST_F(SqlInsert, ReadOnlyStoreRefuses) {
  Store reader = *Store::Open(folder_ / "run.xlaprof");
  absl::Status status = reader.Exec("INSERT INTO event (track_id, ts_ns, name) VALUES (1, 1, 'e')");
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
}

TEST_F(SqlInsert, StoreKnowsTextThatSqlInterned) {
  EXPECT_EQ(*store_.Intern("before"), 1u);
  Do("INSERT INTO event (track_id, ts_ns, name) VALUES (1, 1, 'by sql')");
  EXPECT_EQ(store_.Find("by sql"), 2u);
  EXPECT_EQ(store_.Text(2), "by sql");
  Do("INSERT INTO event (track_id, ts_ns, name) VALUES (1, 1, 'more sql')");
  EXPECT_EQ(*store_.Intern("after"), 4u);
}

TEST_F(SqlInsert, RunSqlScriptRunsAll) {
  absl::Status status = RunSqlScript(store_, R"(-- a capture; with a semicolon in its comment
    INSERT INTO track (id, kind, name, sort) VALUES (1, 'device', 'a;b', 0);
    /* and
       another */
    INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES (1, 1, 0, 5, 'op', 'op');
    INSERT INTO arg (event_id, key, value) VALUES (1, 'flops', 12);
  )");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Rows("SELECT t.name, e.name, a.value FROM event e JOIN track t ON t.id = e.track_id "
                   "JOIN arg a ON a.event_id = e.id"),
              ElementsAre("a;b op 12"));
}

TEST_F(SqlInsert, RunSqlScriptNamesTheLine) {
  const char* good = "INSERT INTO track (id, kind, name, sort)\nVALUES (1, 'device', 'd', 0);\n";
  EXPECT_EQ(Message(RunSqlScript(
                store_, std::string(good) + "\n-- next\nINSERT INTO track (id)\n  SELECT nmae;")),
            "line 6: no such column: nmae");
  EXPECT_EQ(
      Message(RunSqlScript(store_, std::string(good) + "INSERT INTO track (kinds)\nVALUES (1);")),
      "line 3: table track has no column named kinds");
  EXPECT_THAT(std::string(Message(RunSqlScript(
                  store_, std::string(good) +
                              "INSERT INTO event (track_id, ts_ns, name)\nVALUES (1, 'x', 'e');"))),
              testing::StartsWith("line 3: event.ts_ns must be an integer"));
  EXPECT_THAT(std::string(Message(RunSqlScript(
                  store_, std::string(good) +
                              "INSERT INTO arg (event_id, key, value) VALUES (9, 'k', 1)"))),
              HasSubstr("event 9 was not inserted"));
  EXPECT_THAT(Rows("SELECT * FROM track"), IsEmpty());  // nothing of it was kept
}

}  // namespace
}  // namespace xlaprof
