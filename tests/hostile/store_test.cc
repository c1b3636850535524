// Tests `report` and `query` on stores that a disk damaged, and on stores that somebody made up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "analyzers/report/report.h"
#include "profiler/import/import.h"
#include "profiler/store/sql_script.h"
#include "tests/fuzz/targets.h"
#include "tests/hostile/check.h"
#include "tests/hostile/damage.h"
#include "tests/hostile/expect.h"
#include "tests/hostile/golden_inputs.h"
#include "tests/hostile/hostile_text.h"
#include "tests/read_file.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Returns the bytes of a store that was made from a real capture.
std::string ImportedStore() {
  const fs::path path = Scratch() / "imported.xlaprof";
  {
    auto store = Store::Create(path);
    absl::Status status = store.ok()
                              ? Import({.inputs = {fs::path(XLAPROF_SOURCE_DIR) /
                                                   "tests/golden/captures/gap_host_watermark"}},
                                       *store)
                              : store.status();
    if (!status.ok()) return "";
  }
  return ReadFile(path);
}

std::string Overwritten(std::string bytes, Random& random) {
  constexpr size_t kPage = kPageBytes;
  const size_t pages = std::max<size_t>(1, bytes.size() / kPage);
  const size_t to = random.Below(pages) * kPage, from = random.Below(pages) * kPage;
  switch (random.Below(5)) {
    case 0:
      bytes.resize(random.Below(bytes.size()));
      return bytes;
    case 1:  // a copy of another page
      return bytes.replace(to, kPage, bytes.substr(from, kPage));
    case 2:
      return bytes.replace(to, kPage, std::string(kPage, '\0'));
    case 3: {  // noise within a page
      std::string noise;
      for (int i = 0; i < 64; ++i) noise += char(random.Next());
      return bytes.replace(to + random.Below(kPage - 64), 64, noise);
    }
    default: {
      for (int i = 0; i < 20; ++i) bytes[random.Below(bytes.size())] ^= char(1 + random.Below(255));
      return bytes;
    }
  }
}

TEST(Stores, DamagedAnywhere) {
  const FuzzTarget* target = FuzzTargetNamed("store");
  ASSERT_NE(target, nullptr);
  const std::string small = target->seeds().front(), imported = ImportedStore();
  ASSERT_FALSE(imported.empty());
  ExpectAllWell(size_t(150 * HostileScale()), [&](size_t i) {
    return GuardedCase{.name = fmt::format("damaged store {}", i), .run = [&, i] {
                         Random random(i);
                         return target->run(Overwritten(i % 3 == 0 ? imported : small, random),
                                            true);
                       }};
  });
}

// Runs the program itself with every command that reads stores.
TEST(Stores, CommandsEndWellOnDamagedOnes) {
  std::vector<std::string> commands = {
      "report {}", "report {} --format json --steps 0:1", "query {} 'SELECT * FROM event'",
      "query {} 'SELECT t.name, count(*), max(e.dur_ns) FROM event e JOIN track t ON t.id = "
      "e.track_id GROUP BY 1' --format csv",
      "query {} 'SELECT * FROM arg; SELECT * FROM counter_sample' --format json"};
  if (RunProgram("--help", Scratch()).out.find("\n  export") != std::string::npos) {
    for (const char* format : {"chrome", "sqlite", "xspace"})
      commands.push_back(
          fmt::format("export {{}} --format {} -o out.{}.{}", format, format, "tmp"));
  }
  const std::string small = FuzzTargetNamed("store")->seeds().front();
  ExpectAllWell(commands.size() * size_t(6 * HostileScale()), [&](size_t i) {
    return GuardedCase{
        .name = fmt::format("{} (case {})", commands[i % commands.size()], i),
        .run = [&, i]() -> std::string {
          Random random(i);
          const std::string name = fmt::format("damaged{}.xlaprof", i);
          std::ofstream(Scratch() / name, std::ios::binary) << Overwritten(small, random);
          for (const auto& entry : fs::directory_iterator(Scratch())) {
            if (entry.path().filename().string().starts_with("out.")) fs::remove(entry.path());
          }
          Ran ran =
              RunProgram(fmt::format(fmt::runtime(commands[i % commands.size()]), name), Scratch());
          fs::remove(Scratch() / name);
          if (ran.status != 0 && ran.status != 2)
            return fmt::format("status {}: {}", ran.status, ran.out.substr(0, 300));
          // The error may also name an option that does not fit what is left of the store.
          if (ran.status == 2 && ran.out.find(name) == ran.out.npos &&
              ran.out.find("xlaprof: --") == ran.out.npos)
            return fmt::format("an error without the file's name: {}", ran.out);
          return commands[i % commands.size()].find("csv") != std::string::npos
                     ? ""
                     : CheckShown("output", ran.out);
        }};
  });
}

struct Column {
  std::string table, name, type;
};

std::vector<Column> ColumnsOf(const Store& store) {
  auto columns = store.Collect(
      "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c "
      "WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY 1, 2",
      [](std::string table, std::string name, std::string type) {
        return Column{table, name, type};
      });
  return columns.ok() ? *columns : std::vector<Column>();
}

// Puts values that the schema does not expect into every column of every table.
TEST(Stores, HostileValues) {
  std::vector<std::string> values = {"-9223372036854775808",
                                     "9223372036854775807",
                                     "4611686018427387904",
                                     "-1",
                                     "0",
                                     "4294967295",
                                     "1e308",
                                     "'text'",
                                     "''",
                                     "x'00ff'",
                                     "zeroblob(1000)",
                                     "replace(hex(zeroblob(5000)), '00', 'long ')"};
  for (const std::string& name : HostileNames()) {
    if (name.size() > 1000) continue;
    std::string hex;
    for (char c : name) hex += fmt::format("{:02x}", uint8_t(c));
    values.push_back(fmt::format("CAST(x'{}' AS TEXT)", hex));
  }
  auto empty = Store::CreateTemporary();
  ASSERT_TRUE(empty.ok());
  const std::vector<Column> columns = ColumnsOf(*empty);
  ASSERT_GT(columns.size(), 100u);
  // At a scale of 16, each column meets each value; otherwise only some of them.
  const size_t all = columns.size() * values.size();
  const size_t every = std::max<size_t>(1, 16 / size_t(HostileScale()));
  ExpectAllWell(all / every, [&](size_t n) {
    const size_t i = n * every + n % every;
    const Column& column = columns[i % columns.size()];
    const std::string& value = values[i / columns.size() % values.size()];
    const std::string sql = fmt::format("UPDATE OR IGNORE main.\"{}\" SET \"{}\" = {}",
                                        column.table, column.name, value);
    return GuardedCase{.name = sql.substr(0, 200), .run = [sql]() -> std::string {
                         auto store = Store::CreateTemporary();
                         if (!store.ok()) return store.status().ToString();
                         absl::Status status = RunSqlScript(*store, kSmallStoreSql);
                         if (!status.ok()) return status.ToString();
                         (void)store->Exec(sql);  // constraints such as NOT NULL may refuse it
                         auto report = MakeReport(xlaprof::Run(*store));
                         return report.ok()
                                    ? CheckReports(*store)
                                    : fmt::format("no report: {}", report.status().ToString());
                       }};
  });
}

// These schemas run something other than they claim.
TEST(Stores, HostileSchemas) {
  static const std::string kSchemas[] = {
      "DROP TABLE step; CREATE VIEW step AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + "
      "1 "
      "FROM n) SELECT i AS id, 1 AS process_id, i AS ordinal, NULL AS number, NULL AS name, i AS "
      "ts_ns, 1 AS dur_ns FROM n",
      "DROP TABLE compile",
      "ALTER TABLE compile RENAME COLUMN dur_ns TO other",
      "DROP TABLE meta; CREATE TABLE meta (key, value)",
      "CREATE TRIGGER t AFTER INSERT ON finding BEGIN DELETE FROM step; END",
      "DROP TABLE source; CREATE TABLE source (id)",
      "PRAGMA user_version = 999",
      "PRAGMA user_version = -1",
      "PRAGMA application_id = 1",
  };
  ExpectAllWell(std::size(kSchemas), [](size_t i) {
    return GuardedCase{.name = kSchemas[i], .run = [i]() -> std::string {
                         const fs::path path = Scratch() / fmt::format("schema{}.xlaprof", i);
                         {
                           auto store = Store::Create(path);
                           if (!store.ok()) return store.status().ToString();
                           absl::Status status = RunSqlScript(*store, kSmallStoreSql);
                           if (status.ok()) status = store->Exec(kSchemas[i]);
                           if (!status.ok()) return status.ToString();
                         }
                         return FuzzTargetNamed("store")->run(ReadFile(path), true);
                       }};
  });
}

}  // namespace
}  // namespace xlaprof
