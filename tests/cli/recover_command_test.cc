// Tests `xlaprof recover -o`, which writes what can be read to another file.
#include <gmock/gmock.h>

#include "profiler/store/sql_script.h"
#include "profiler/store/store.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;

class RecoverTo : public ProgramTest {
 protected:
  RecoverTo() {
    Store store = *Store::Create(folder_ / "run.xlaprof");
    const absl::Status status = RunSqlScript(
        store,
        "INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'first', NULL, 1, 'the only one');"
        "INSERT INTO process (id, run_id, segment, pid) VALUES (1, 1, 0, 4711);"
        "INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'main', 0);"
        "INSERT INTO event (track_id, ts_ns, dur_ns, name) "
        "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 99999) "
        "SELECT 1, 1000 * i + abs(random() % 900), abs(random() % 99), 'e' FROM n;");
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(store.Exec("PRAGMA journal_mode=DELETE").ok());
  }
  // Returns the number of events, or -1 if the file cannot be read.
  int64_t EventsOf(const std::string& name) {
    const Ran ran = Run("query " + name + " 'SELECT count(*) FROM event' --format json");
    const size_t at = ran.out.find("\"count(*)\": ");
    return at == ran.out.npos ? -1 : std::atoll(ran.out.c_str() + at + 12);
  }
  bool Exists(const std::string& name) { return std::filesystem::exists(folder_ / name); }
};

TEST_F(RecoverTo, AWholeStoreIsCopied) {
  const Ran ran = Run("recover run.xlaprof -o copy.xlaprof");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("Nothing waits in a ring."));
  EXPECT_EQ(EventsOf("copy.xlaprof"), 100'000);
}

// Regression: 20 of 20 truncated stores ended with status 0 and no file.
TEST_F(RecoverTo, WhatATruncatedStoreHolds) {
  const auto bytes = std::filesystem::file_size(folder_ / "run.xlaprof");
  constexpr int kOffsets = 20;
  int64_t most = 0;
  for (int i = 0; i < kOffsets; ++i) {
    std::filesystem::copy_file(folder_ / "run.xlaprof", folder_ / "cut.xlaprof",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder_ / "cut.xlaprof", bytes * unsigned(i) / kOffsets);
    std::filesystem::remove(folder_ / "whole.xlaprof");
    const std::string before = Content("cut.xlaprof");
    const Ran ran = Run("recover cut.xlaprof -o whole.xlaprof");
    EXPECT_EQ(ran.status, i == 0 ? 2 : 0) << i << ran.out;
    EXPECT_EQ(Exists("whole.xlaprof"), ran.status == 0) << i;
    EXPECT_TRUE(Content("cut.xlaprof") == before);
    if (ran.status != 0) continue;
    EXPECT_THAT(ran.out, HasSubstr("cut off"));
    const int64_t events = EventsOf("whole.xlaprof");
    EXPECT_EQ(events, EventsOf("cut.xlaprof")) << i;
    EXPECT_GE(events, most) << i;
    most = std::max(most, events);
  }
  EXPECT_GT(most, 50'000);
  EXPECT_LT(most, 100'000);
}

TEST_F(RecoverTo, OtherFilesAreNoStores) {
  Write("notes.txt", "milk\n");
  EXPECT_EQ(Run("recover notes.txt -o whole.xlaprof").status, 2);
  EXPECT_EQ(Run("recover nothing -o whole.xlaprof").status, 2);
  EXPECT_FALSE(Exists("whole.xlaprof"));
}

}  // namespace
}  // namespace xlaprof
