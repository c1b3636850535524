#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "profiler/store/sql_script.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class QueryCommand : public ProgramTest {
 protected:
  QueryCommand() {
    Store store = *Store::Create(folder_ / "run.xlaprof");
    absl::Status status = RunSqlScript(store, R"(
      INSERT INTO track (id, kind, name, sort) VALUES (1, 'device', 'XLA Ops', 0);
      INSERT INTO event (track_id, ts_ns, dur_ns, name, category) VALUES
        (1, 0, 10, 'plain', 'op'), (1, 20, 5, 'comma, "quote"', NULL), (1, 30, NULL, 'tab	and' || char(10) || 'line' || char(27) || '[31m', 'op');
    )");
    EXPECT_TRUE(status.ok()) << status;
  }
  Ran Query(const std::string& sql, const std::string& format = "table") {
    Write("q.sql", sql);
    return Run("query run.xlaprof --format " + format + " \"$(cat q.sql)\"");
  }
};

TEST_F(QueryCommand, TableIsAligned) {
  Ran ran = Query("SELECT id, name, dur_ns, category FROM event");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out,
            "id  name                    dur_ns  category\n"
            "--  ----------------------  ------  --------\n"
            " 1  plain                       10  op\n"
            " 2  comma, \"quote\"               5\n"
            " 3  tab\\tand\\nline\\x1b[31m          op\n");
}

TEST_F(QueryCommand, CsvIsQuotedAsInRfc4180) {
  EXPECT_EQ(
      Query("SELECT name, dur_ns, '' AS empty, x'00FF' AS bytes FROM event WHERE id > 1; SELECT "
            "1.0 AS r",
            "csv")
          .out,
      "name,dur_ns,empty,bytes\n\"comma, "
      "\"\"quote\"\"\",5,\"\",00ff\n\"tab\tand\nline\x1b[31m\",,\"\",00ff\n\nr\n1.0\n");
}

// A ' keeps a spreadsheet from reading a formula, unless the text is wanted as it is.
TEST_F(QueryCommand, CsvHasFormulasOnlyIfRaw) {
  const std::string sql = "SELECT '=1+1' AS a, '-x' AS b, -5 AS c, 'y' AS \"@d\"";
  EXPECT_EQ(Query(sql, "csv").out, "a,b,c,\"'@d\"\n\"'=1+1\",\"'-x\",-5,y\n");
  EXPECT_EQ(Query(sql, "csv --raw").out, "a,b,c,@d\n=1+1,-x,-5,y\n");
}

TEST_F(QueryCommand, JsonIsExact) {
  Ran ran = Query(
      "SELECT dur_ns, 9007199254740992 AS exact, 9007199254740993 AS large, -9007199254740993 AS "
      "low, 0.1 AS r, x'0aff' AS b, "
      "name, 1 AS a, 2 AS a, 9e999 AS inf FROM event WHERE id = 3",
      "json");
  ASSERT_EQ(ran.status, 0) << ran.out;
  json rows = json::parse(ran.out);
  ASSERT_EQ(rows.size(), 1u);
  json row = rows[0];
  EXPECT_EQ(
      row,
      json::parse(
          R"({"dur_ns": null, "exact": 9007199254740992, "large": "9007199254740993", "low": "-9007199254740993",
                                 "r": 0.1, "b": "0aff", "name": "tab\tand\nline\u001b[31m", "a": 1, "a_2": 2, "inf": "inf"})"));
  EXPECT_EQ(json::parse(Query("SELECT 1 WHERE 0", "json").out), json::array());
}

TEST_F(QueryCommand, SeveralStatementsAndTemporaryTables) {
  Ran ran = Query(
      "CREATE TEMP TABLE long AS SELECT * FROM event WHERE dur_ns > 5; -- only those\nINSERT INTO "
      "temp.long (id) VALUES (70);\n"
      "SELECT count(*) AS n FROM long; SELECT max(id) AS m FROM long;");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "n\n-\n2\n\n m\n--\n70\n");
}

TEST_F(QueryCommand, OnlyReads) {
  std::string before = Content("run.xlaprof");
  for (const char* sql :
       {"DELETE FROM track", "INSERT INTO event (track_id, ts_ns, name) VALUES (1, 1, 'x')",
        "DROP TABLE step", "CREATE TABLE t (a)", "ATTACH 'other.db' AS o", "VACUUM INTO 'copy.db'",
        "UPDATE sqlite_master SET sql = ''",
        "CREATE TEMP TRIGGER t AFTER INSERT ON temp.x BEGIN DELETE FROM track; END"}) {
    Ran ran = Query(sql);
    EXPECT_EQ(ran.status, 2) << sql << "\n" << ran.out;
  }
  EXPECT_THAT(Query("SELECT 1;\n  DELETE FROM track").out,
              HasSubstr("query only reads: tables can be written only where they are TEMP\n    "
                        "DELETE FROM track\n    ^"));
  EXPECT_EQ(Content("run.xlaprof"), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other.db"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "copy.db"));
}

TEST_F(QueryCommand, PointsAtTheMistake) {
  Ran ran = Query("SELECT id,\n       nmae FROM event");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "xlaprof: no such column: nmae\n         nmae FROM event\n         ^\n");
  EXPECT_THAT(Query("SELECT * FROM events").out,
              HasSubstr("no such table: events\nTables: event, arg"));
  EXPECT_THAT(Query("SELECT 1; SELEC 2").out, HasSubstr("  SELECT 1; SELEC 2\n            ^"));
}

TEST_F(QueryCommand, SaysThatADamagedChunkIsMissing) {
  {
    Store store = *Store::OpenForWriting(folder_ / "run.xlaprof");
    ASSERT_TRUE(store
                    .Exec("INSERT INTO event (track_id, ts_ns, name) VALUES (2, 0, 'sound'); "
                          "UPDATE event_chunk SET columns = x'0011' WHERE track_id = 1")
                    .ok());
  }
  Ran ran = Query("SELECT name FROM event", "csv");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("name\nsound\nxlaprof: 1 damaged chunks"));
}

// Nobody has analysed a capture yet, so the query does it.
TEST_F(QueryCommand, FindingsOfACapture) {
  Write("cap/metrics.txt",
        "Metric: CompileTime\n  TotalSamples: 300\n  Accumulator: 05m00s000ms000.000us\n"
        "  Percentiles: 50%=01s000ms000.000us\nMetric: ExecuteTime\n  TotalSamples: 300\n"
        "  Accumulator: 03s000ms000.000us\n  Percentiles: 50%=010ms000.000us\n"
        "Counter: MarkStep\n  Value: 300\nCounter: aten::nonzero\n  Value: 300\n\n");
  Ran ran = Run("query cap 'SELECT severity, kind FROM finding' --format csv");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("warning,fallback\n"));
  ran = Run("query cap \"SELECT rank, reason FROM findings WHERE kind = 'fallback'\" --format csv");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("no_lowering"));
  // Findings that the store holds are not made again.
  ASSERT_EQ(Run("import cap -o kept.xlaprof").status, 0);
  EXPECT_THAT(Run("query kept.xlaprof \"SELECT count(*) FROM temp.sqlite_schema WHERE name = "
                  "'finding'\" --format csv")
                  .out,
              HasSubstr("\n0\n"));
  EXPECT_THAT(Run("query kept.xlaprof 'SELECT kind FROM findings' --format csv").out,
              HasSubstr("fallback\n"));
}

TEST_F(QueryCommand, ViewsOfAnSqliteExport) {
  for (const char* view : {"steps", "compiles", "compiles_by_site", "executions_by_site",
                           "fallbacks_by_site", "slice", "time_by_name", "findings"}) {
    Ran ran = Query(std::string("SELECT count(*) FROM ") + view);
    EXPECT_EQ(ran.status, 0) << ran.out;
  }
  EXPECT_EQ(Query("SELECT start_ms, name FROM slice WHERE id = 1", "csv").out,
            "start_ms,name\n0.0,plain\n");
}

TEST_F(QueryCommand, ReadsCapturesAndRefusesOthers) {
  Write("cap/metrics.txt",
        "[MetricsData; step=1]\nMetric: CompileTime\n  TotalSamples: 3\n  Accumulator: "
        "01s000ms000.000us\n"
        "  Percentiles: 50%=01s000ms000.000us\nCounter: MarkStep\n  Value: 12\n\n");
  Ran ran = Run("query cap 'SELECT name, samples FROM metric'");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("CompileTime        3"));
  EXPECT_EQ(Run("query nowhere.xlaprof 'SELECT 1'").status, 2);
  EXPECT_EQ(Run("query run.xlaprof 'SELECT 1' --format xml").status, 2);
  EXPECT_EQ(Run("query run.xlaprof 'SELECT 1' > /dev/full").status, 2);
}

}  // namespace
}  // namespace xlaprof
