// Tests names from outside in all of the program's output.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "profiler/store/sql_script.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;
using testing::Not;

// This sequence clears a terminal.
constexpr const char* kSteering = "\x1b[2J";

class Escaping : public ProgramTest {
 protected:
  void Store1(const std::string& sql) {
    Store store = *Store::Create(folder_ / "run.xlaprof");
    absl::Status status = RunSqlScript(store, sql);
    ASSERT_TRUE(status.ok()) << status;
  }
};

TEST_F(Escaping, FilesOfHostileNames) {
  Write("bad\n\x1b[2Jname.log", "nothing known");
  Ran ran = Run("report \"$(printf 'bad\\n\\033[2Jname.log')\"");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, Not(HasSubstr(kSteering)));
  EXPECT_THAT(ran.out, HasSubstr("bad\\n\\x1b[2Jname.log"));
  // Each message is one line, so a name cannot fake another message.
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
}

TEST_F(Escaping, WordsThatAreNoOption) {
  Ran ran = Run("report x \"$(printf '%s\\033[2J' --)\"");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, Not(HasSubstr(kSteering)));
  EXPECT_THAT(ran.out, HasSubstr("\\x1b[2J"));
  EXPECT_THAT(Run("\"$(printf '\\033[2J')\"").out, Not(HasSubstr(kSteering)));
}

TEST_F(Escaping, TheCommandThatImportNames) {
  Write("m.txt", "Metric: CompileTime\n  TotalSamples: 4\n  Accumulator: 02s382ms966.884us\n");
  Ran ran = Run("import m.txt -o 'my run.xlaprof'");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("xlaprof report 'my run.xlaprof'\n"));
}

TEST_F(Escaping, CsvIsNoFormula) {
  Store1(
      "INSERT INTO track (id, kind, name, sort) VALUES (1, 'device', '=cmd|'' /C calc''!A0', 0), "
      "(2, 'device', '-2+3', -5), (3, 'device', '@x', 0)");
  Ran ran = Run("query run.xlaprof 'SELECT name, sort, -0.5 AS r FROM track' --format csv");
  EXPECT_EQ(ran.out,
            "name,sort,r\n\"'=cmd|' /C calc'!A0\",0,-0.5\n\"'-2+3\",-5,-0.5\n\"'@x\",0,-0.5\n");
}

TEST_F(Escaping, JsonSteersNoTerminal) {
  Store1(
      "INSERT INTO track (id, kind, name, sort) VALUES (1, 'device', char(155) || '2J' || "
      "char(127) || char(8238) || CAST(x'ff' AS TEXT), 0)");
  Ran ran = Run("query run.xlaprof 'SELECT name FROM track' --format json");
  EXPECT_THAT(ran.out, HasSubstr("\"\\u009b2J\\u007f\\u202e\xef\xbf\xbd\""));
  EXPECT_EQ(nlohmann::json::parse(ran.out)[0]["name"], "\u009b2J\x7f\u202e\ufffd");
}

TEST_F(Escaping, TablesSteerNoTerminal) {
  Store1(
      "INSERT INTO track (id, kind, name, sort) VALUES (1, 'device', char(155) || '2J' || "
      "char(8238) || CAST(x'ff' AS TEXT), 0)");
  Ran ran = Run("query run.xlaprof 'SELECT name FROM track'");
  EXPECT_THAT(ran.out, HasSubstr("\\x9b2J\\u202e\\xff\n"));
}

// The store of somebody else may hold any text, and it is shown in every form of the report.
TEST_F(Escaping, ReportsOfHostileStores) {
  Store1(
      "INSERT INTO run (id, label, selected, why) VALUES (1, 'l' || char(27) || '[2J', 1, 'w');"
      "INSERT INTO source (id, path, format, imported, note) VALUES (1, 'p' || char(27) || '[2J', "
      "'f' || char(27) || '[2J', 1, '<b>' || char(27) || '[2J'), (2, 'q|`' || char(27) || '[2J', "
      "NULL, 0, 'n' || char(27) || '[2J');"
      "INSERT INTO import_issue (source_id, code, severity, count, advice) VALUES (1, 'c' || "
      "char(27) || '[2J', 's<i>' || char(27) || '[2J', 1, 'a' || char(10) || '  1  error: forged');"
      "INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'h' || "
      "char(27) || '[2J'), (2, 1, 1, 0, 'h');"
      "INSERT INTO setting (process_id, name, value, evidence) VALUES (1, 'n' || char(27) || "
      "'[2J', "
      "'v', 'e' || char(27) || '[2J');"
      "INSERT INTO step (id, process_id, ordinal, name, ts_ns, dur_ns) VALUES (1, 1, 0, 's' || "
      "char(27) || '[2J', 0, 10);");
  for (const char* format : {"text --all", "markdown", "json"}) {
    Ran ran = Run(std::string("report run.xlaprof --format ") + format);
    EXPECT_EQ(ran.status, 0) << ran.out;
    EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(ran.out, Not(HasSubstr("\n  1  error: forged")));
  }
  Ran markdown = Run("report run.xlaprof --format markdown");
  EXPECT_THAT(markdown.out, Not(HasSubstr("<b>")));
  EXPECT_THAT(markdown.out, Not(HasSubstr("<i>")));
}

}  // namespace
}  // namespace xlaprof
