// Tests the loadable extension in the programs that it is meant for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/sanitized.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

constexpr const char* kShell = "/usr/bin/sqlite3";
constexpr const char* kPython = "/usr/bin/python3";

class SqliteExtension : public testing::Test {
 protected:
  SqliteExtension() {
    std::string name = (std::filesystem::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
    Store store = *Store::Create(folder_ / "run.xlaprof");
    EventWriter writer(store);
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(
          writer.Add(1, {.ts_ns = i, .dur_ns = 2, .name = *store.Intern(i % 2 ? "odd" : "even")})
              .ok());
      writer.Arg(*store.Intern("i"), int64_t(i));
    }
    EXPECT_TRUE(writer.Flush().ok());
  }
  ~SqliteExtension() override { std::filesystem::remove_all(folder_); }

  // Returns the output of a shell command, errors included. The command runs in the directory of
  // run.xlaprof.
  std::string Run(const std::string& command) {
    FILE* pipe = popen(("cd '" + folder_.string() + "' && " + command + " 2>&1").c_str(), "r");
    std::string out;
    std::array<char, 4096> buffer;
    while (size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
      out.append(buffer.data(), got);
    pclose(pipe);
    return out;
  }
  std::filesystem::path folder_;
};

#ifdef XLAPROF_SANITIZED
#define SKIP_UNDER_SANITIZER() \
  GTEST_SKIP() << "a sanitised library does not load into other programs"
#else
#define SKIP_UNDER_SANITIZER() (void)0
#endif

TEST_F(SqliteExtension, InTheShell) {
  SKIP_UNDER_SANITIZER();
  if (!std::filesystem::exists(kShell)) GTEST_SKIP() << kShell << " is not there";
  std::string load =
      std::string(kShell) + " run.xlaprof '.load " XLAPROF_SQLITE_EXTENSION_FILE "' ";
  EXPECT_EQ(Run(load + "'SELECT name, count(*), sum(dur_ns) FROM event GROUP BY name'"),
            "even|5|10\nodd|5|10\n");
  EXPECT_EQ(
      Run(load +
          "'SELECT e.ts_ns, a.value FROM event e JOIN arg a ON a.event_id = e.id WHERE e.id = 4'"),
      "3|3\n");
  EXPECT_EQ(Run(load + "\"INSERT INTO event (track_id, ts_ns, name) VALUES (1, 100, 'shell')\""),
            "");
  EXPECT_EQ(Run(load + "'SELECT id, name, dur_ns FROM event WHERE ts_ns > 50'"), "11|shell|\n");
}

TEST_F(SqliteExtension, InADatabaseThatIsNoStore) {
  SKIP_UNDER_SANITIZER();
  if (!std::filesystem::exists(kShell)) GTEST_SKIP() << kShell << " is not there";
  EXPECT_THAT(Run(std::string(kShell) + " :memory: '.load " XLAPROF_SQLITE_EXTENSION_FILE
                                        "' 'SELECT * FROM event'"),
              testing::HasSubstr("not an xlaprof store"));
}

TEST_F(SqliteExtension, InPython) {
  SKIP_UNDER_SANITIZER();
  if (!std::filesystem::exists(kPython)) GTEST_SKIP() << kPython << " is not there";
  std::string program =
      "import sqlite3\n"
      "c = sqlite3.connect(\"run.xlaprof\")\n"
      "c.enable_load_extension(True)\n"
      "c.load_extension(\"" XLAPROF_SQLITE_EXTENSION_FILE
      "\")\n"
      "print(c.execute(\"SELECT count(*), sum(value) FROM arg WHERE key = ?\", "
      "(\"i\",)).fetchall())\n"
      "c.execute(\"INSERT INTO event (track_id, ts_ns, name) VALUES (2, 0, ?)\", (\"python\",))\n"
      "c.commit()\n"
      "print(c.execute(\"SELECT id, name FROM event WHERE track_id = 2\").fetchall())\n"
      "c.close()\n";
  EXPECT_EQ(Run(std::string(kPython) + " -c '" + program + "'"), "[(10, 45)]\n[(11, 'python')]\n");
}

}  // namespace
}  // namespace xlaprof
