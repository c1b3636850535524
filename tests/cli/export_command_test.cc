#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "profiler/store/sql_script.h"
#include "profiler/store/store.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Makes a store with ten steps of 1 ms and an event in each.
class ExportCommand : public ProgramTest {
 protected:
  ExportCommand() {
    auto store = Store::Create(folder_ / "run.xlaprof");
    EXPECT_TRUE(store.ok()) << store.status();
    std::string sql =
        "INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'first', NULL, 1, 'the only one');"
        "INSERT INTO process (id, run_id, source_id, segment, pid) VALUES (1, 1, NULL, 0, 4711);"
        "INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'main', "
        "0);";
    for (int i = 0; i < 10; ++i) {
      sql += fmt::format(
          "INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES ({0} + 1, 1, {0}, NULL, 'train', {0} * 1000000, 999999);"
          "INSERT INTO event (track_id, ts_ns, dur_ns, name) VALUES (1, {0} * 1000000 + 10, 5, "
          "'e{0}');",
          i);
    }
    absl::Status status = RunSqlScript(*store, sql);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(store->Exec("PRAGMA journal_mode=DELETE").ok());
  }
  std::vector<std::string> Names(const std::string& file) {
    std::vector<std::string> names;
    const json trace = json::parse(Content(file));
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] == "X" && event.value("cat", "") == "") names.push_back(event["name"]);
    }
    return names;
  }
};

TEST_F(ExportCommand, WritesTheFormatThatIsAskedFor) {
  Ran ran = Run("export run.xlaprof --format chrome -o trace.json");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("trace.json: "));
  EXPECT_THAT(ran.out, HasSubstr(" 10 events"));
  EXPECT_EQ(Names("trace.json").size(), 10u);
  EXPECT_EQ(Run("export run.xlaprof --format chrome -o trace.json.gz").status, 0);
  EXPECT_EQ(Content("trace.json.gz").substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(Run("export run.xlaprof --format sqlite -o run.db").status, 0);
  EXPECT_EQ(Content("run.db").substr(0, 15), "SQLite format 3");
}

TEST_F(ExportCommand, Slices) {
  EXPECT_EQ(Run("export run.xlaprof --format chrome -o a.json --steps 2:3").status, 0);
  EXPECT_THAT(Names("a.json"), testing::ElementsAre("e2", "e3"));
  EXPECT_EQ(Run("export run.xlaprof --format chrome -o b.json --from 5ms --to 7ms").status, 0);
  EXPECT_THAT(Names("b.json"), testing::ElementsAre("e5", "e6", "e7"));
  Ran ran = Run("export run.xlaprof --format chrome -o c.json --steps 90:91");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("0 to 9"));
}

TEST_F(ExportCommand, ReplacesOnlyWhatItIsToldTo) {
  Write("there.json", "mine");
  Ran ran = Run("export run.xlaprof --format chrome -o there.json");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("--force"));
  EXPECT_EQ(Content("there.json"), "mine");
  EXPECT_EQ(Run("export run.xlaprof --format chrome -o there.json --force").status, 0);
  EXPECT_EQ(Names("there.json").size(), 10u);
  const std::string before = Content("run.xlaprof");
  for (const char* output : {"run.xlaprof", "./run.xlaprof", "."}) {
    ran = Run(std::string("export run.xlaprof --format sqlite --force -o ") + output);
    EXPECT_EQ(ran.status, 2) << output;
  }
  EXPECT_TRUE(Content("run.xlaprof") == before);
}

TEST_F(ExportCommand, LeavesNothingBehindWhenItFails) {
  EXPECT_EQ(Run("export run.xlaprof --format chrome -o no/such/trace.json").status, 2);
  EXPECT_EQ(Run("export missing.pb --format chrome -o trace.json").status, 2);
  EXPECT_EQ(Run("export run.xlaprof --format chrome -o trace.json --process 9").status, 2);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name == "run.xlaprof" || name == "stderr.txt") << name;
  }
}

TEST_F(ExportCommand, WritesToStandardOutput) {
  Ran ran = Run("export run.xlaprof --format chrome -o - 2>told >piped");
  EXPECT_EQ(ran.status, 0) << ran.out;
  Run("export run.xlaprof --format chrome -o trace.json");
  EXPECT_EQ(Content("piped"), Content("trace.json"));
  EXPECT_EQ(Content("told"), "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "-"));
  ran = Run("export run.xlaprof --format sqlite -o -");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("standard output"));
}

TEST_F(ExportCommand, SaysWhatItCannotDo) {
  const std::pair<const char*, const char*> cases[] = {
      {"export run.xlaprof --format pdf -o a", "chrome"},
      {"export run.xlaprof -o a", "--format"},
      {"export run.xlaprof --format chrome", "--output"},
      {"export run.xlaprof --format sqlite -o run.db.gz", "without .gz"},
  };
  for (const auto& [arguments, part] : cases) {
    Ran ran = Run(arguments);
    EXPECT_EQ(ran.status, 2) << arguments << "\n" << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(part)) << arguments;
  }
}

// The end of a store was lost in a copy. The rest is exported and can be queried, and both commands
// report the loss.
TEST_F(ExportCommand, DamagedStoreIsRecovered) {
  std::filesystem::resize_file(folder_ / "run.xlaprof",
                               std::filesystem::file_size(folder_ / "run.xlaprof") - 8192);
  Ran ran = Run("export run.xlaprof --format chrome -o trace.json");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("damaged"));
  EXPECT_TRUE(json::accept(Content("trace.json")));
  ran = Run("query run.xlaprof 'SELECT count(*) AS steps FROM step' --format csv");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, testing::StartsWith("steps\n10\n"));
  EXPECT_THAT(ran.out, HasSubstr("damaged"));
}

}  // namespace
}  // namespace xlaprof
