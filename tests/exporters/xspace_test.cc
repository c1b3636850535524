// Reads the XSpace exporter's files back, with contents that no real capture has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "analyzers/analyzer.h"
#include "exporters/exporter.h"
#include "exporters/output/proto_file.h"
#include "profiler/import/import.h"
#include "profiler/store/sql_script.h"
#include "tests/read_file.h"

namespace xlaprof {

extern const Analyzer fallback;
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class XSpaceExport : public testing::Test {
 protected:
  XSpaceExport() {
    std::string name = (fs::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~XSpaceExport() override { fs::remove_all(folder_); }

  static Store Load(std::string_view sql) {
    Store store = *Store::CreateTemporary();
    absl::Status status = RunSqlScript(
        store,
        "INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'r', NULL, 1, 'x'); INSERT INTO source (id, path, "
        "format, imported) VALUES (1, 'a', 'xspace', 1); INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, 1, "
        "1, 0, 'vm', 7, NULL, NULL);" +
            std::string(sql));
    EXPECT_TRUE(status.ok()) << status;
    return store;
  }
  std::string Bytes(const Store& store, const Findings& findings = {}) {
    auto exported =
        FindExporter("xspace")->write(xlaprof::Run(store), findings, {.path = folder_ / "x.pb"});
    EXPECT_TRUE(exported.ok()) << exported.status();
    left_out_ = exported->left_out;
    return ReadFile(folder_ / "x.pb");
  }
  Store Again(const Store& store, const Findings& findings = {}) {
    Bytes(store, findings);
    Store again = *Store::CreateTemporary();
    absl::Status status = Import({.inputs = {folder_ / "x.pb"}}, again);
    EXPECT_TRUE(status.ok()) << status;
    return again;
  }
  static std::vector<std::string> Rows(const Store& store, const char* sql) {
    auto rows = store.Collect(sql, [](std::string row) { return row; });
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.value_or(std::vector<std::string>());
  }

  fs::path folder_;
  std::vector<std::string> left_out_;
};

constexpr const char* kLane =
    "INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES (1, 1, 'host_thread', 'main', 7, NULL, NULL, 0), "
    "(2, 1, 'device', 'CPU:0', NULL, 'CPU:0', NULL, 1), "
    "(3, 1, 'device_stream', 'programs', 1, 'CPU:0', 2, 2), "
    "(4, 1, 'device_stream', 'kernels', 2, 'CPU:0', 2, 3);"
    "INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category, flow_in, flow_out) VALUES "
    "(1, 1, 0, 100, 'train', 'step', NULL, NULL), (2, 1, 10, 5, 'run', 'execute', NULL, 9), "
    "(3, 3, 20, 60, 'f', 'module', 9, NULL), (4, 4, 21, 5, 'add', 'op', NULL, NULL);"
    "INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES (1, 1, 0, 4, 'train', 0, 100);"
    "INSERT INTO execution (id, process_id, ordinal, ts_ns, dur_ns, device, step_id) VALUES "
    "(1, 1, 0, 20, 60, 'CPU:0', 1);";

TEST_F(XSpaceExport, DeviceOfAnotherKindIsATpuForXprof) {
  const Store store = Load(kLane);
  const std::string bytes = Bytes(store);
  for (const char* name : {"/device:TPU:0", "Steps", "XLA Modules", "XLA Ops", "step_num", "_r"})
    EXPECT_THAT(bytes, HasSubstr(name));
  EXPECT_THAT(left_out_, ElementsAre());
  // The parts that were added for XProf are gone again, and the names are those of the store.
  const Store again = Again(store);
  EXPECT_THAT(Rows(again,
                   "SELECT kind || ' ' || name || ' ' || ifnull(device, '') FROM track "
                   "ORDER BY 1"),
              ElementsAre("device CPU:0 CPU:0", "device_stream kernels CPU:0",
                          "device_stream programs CPU:0", "host_thread main "));
  EXPECT_THAT(Rows(again, "SELECT name || ' ' || category FROM event ORDER BY ts_ns"),
              ElementsAre("train step", "run execute", "f module", "add op"));
  EXPECT_THAT(Rows(again, "SELECT key FROM arg"), ElementsAre());
  EXPECT_THAT(Rows(again, "SELECT number || ' ' || name FROM step"), ElementsAre("4 train"));
}

TEST_F(XSpaceExport, FindingsAreShownAndNotReadBack) {
  Finding finding{.analyzer = &fallback, .words = {.title = "aten::nonzero runs on the CPU"}};
  const Store store = Load(kLane);
  EXPECT_THAT(Bytes(store, {finding}), HasSubstr("/device:CUSTOM:xlaprof"));
  EXPECT_THAT(Rows(Again(store, {finding}), "SELECT count(*) || '' FROM event"), ElementsAre("4"));
}

// A recording has a device's programs and their kernels on one track.
TEST_F(XSpaceExport, KernelsAreNotReadBackAsExecutions) {
  const Store again = Again(Load(
      "INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES (1, 1, 'device', 'CPU:0', NULL, 'CPU:0', NULL, 0), (2, 1, 'host_thread', 'main', 7, NULL, NULL, 1);"
      "INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES (1, 1, 0, 60, 'f', "
      "'module'), (2, 1, 10, 5, 'add', 'op'), (3, 1, 20, 5, 'mm', 'op'), (4, 2, 0, 9, "
      "'TransferToDevice', 'transfer');"
      "INSERT INTO execution (id, process_id, ordinal, ts_ns, dur_ns, device) VALUES (1, 1, 0, 0, "
      "60, 'CPU:0');"));
  EXPECT_THAT(Rows(again, "SELECT ts_ns || ' ' || dur_ns || ' ' || device FROM execution"),
              ElementsAre("0 60 CPU:0"));
  EXPECT_THAT(Rows(again, "SELECT direction FROM transfer"), ElementsAre("to_device"));
}

TEST_F(XSpaceExport, KernelsOfKinetoHaveWhatXprofReads) {
  const Store store = Load(
      "INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES (1, 1, 'device_stream', 'stream 7 ', 7, 'GPU:0', NULL, 0);"
      "INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES (1, 1, 0, 9, 'k', "
      "'op'), (2, 1, 10, 9, 'no launch', 'op');"
      "INSERT INTO arg (event_id, key, type, value) VALUES (1, 'grid', 'string', '[2400, 1, 1]'), "
      "(1, 'block', 'string', '[256, 1, 1]'), (1, 'registers per thread', 'int', 27), "
      "(1, 'correlation', 'int', 5), (2, 'grid', 'string', '[many]'), (2, 'block', 'int', 1);");
  const std::string bytes = Bytes(store);
  EXPECT_THAT(bytes, HasSubstr("regs:27 static_shared:0 dynamic_shared:0 grid:2400,1,1 "
                               "block:256,1,1 occ_pct:0"));
  EXPECT_THAT(bytes, HasSubstr("Stream #7(Compute)"));
  EXPECT_THAT(bytes, HasSubstr("correlation_id"));
  const Store again = Again(store);
  EXPECT_THAT(Rows(again, "SELECT key FROM arg ORDER BY event_id, key"),
              ElementsAre("block", "correlation", "grid", "registers per thread", "block", "grid"));
  EXPECT_THAT(Rows(again, "SELECT name FROM track WHERE tid = 7"), ElementsAre("stream 7 "));
}

TEST_F(XSpaceExport, NamesThatReadersTakeApartStayWhole) {
  const Store again = Again(Load(
      "INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES (1, 1, 'host_thread', 'a', 0, NULL, NULL, 0);"
      "INSERT INTO event (id, track_id, ts_ns, dur_ns, name) VALUES (1, 1, 0, 9, 'x#k=v#'), "
      "(2, 1, 1, 1, '%a = b'), (3, 1, 2, 1, ''), (4, 1, 3, 1, '_counters_');"
      "INSERT INTO arg (event_id, key, type, value) VALUES (1, '_r', 'int', 1), "
      "(2, 'xlaprof_category', 'string', 'step');"));
  EXPECT_THAT(Rows(again, "SELECT name FROM event ORDER BY ts_ns"),
              ElementsAre("x#k=v#", "%a = b", "", "_counters_"));
  EXPECT_THAT(Rows(again, "SELECT key FROM arg ORDER BY key"),
              ElementsAre("_r", "xlaprof_category"));
  EXPECT_THAT(Rows(again, "SELECT name FROM step"), ElementsAre());
}

TEST_F(XSpaceExport, SliceKeepsWhatOverlapsIt) {
  Store store = Load(kLane);
  ASSERT_TRUE(store.Restrict({.from_ns = 22, .to_ns = 90}).ok());
  EXPECT_THAT(Rows(Again(store), "SELECT name FROM event ORDER BY ts_ns"),
              ElementsAre("train", "f", "add"));
}

TEST_F(XSpaceExport, EventsOfAnotherCenturyAreCounted) {
  Bytes(Load(
      "INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES (1, 1, 'host_thread', 'a', 1, NULL, NULL, 0);"
      "INSERT INTO event (id, track_id, ts_ns, dur_ns, name) VALUES (1, 1, 0, 9, 'a'), "
      "(2, 1, 900000000000000000, 9, 'b');"));
  EXPECT_THAT(left_out_, ElementsAre("1 event more than 100 days from the first of their thread"));
}

// Lengths are filled in correctly wherever the file's buffer ends.
TEST_F(XSpaceExport, MessagesOfAnyLengthNest) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(262130), size_t(262140), size_t(600000)}) {
    ProtoFile file = *ProtoFile::Create(folder_ / "p");
    file.Write(std::string(bytes, '\0'));
    file.Begin(1);
    file.Begin(3);
    file.Write(std::string(bytes, 'x'));
    file.End();
    file.End();
    ASSERT_TRUE(file.Close().ok());
    const std::string written = ReadFile(folder_ / "p");
    ASSERT_EQ(written.size(), bytes * 2 + 12);
    auto length = [&](size_t at) {
      size_t value = 0;
      for (int i = 0; i < 5; ++i) value |= size_t(written[at + size_t(i)] & 0x7f) << (7 * i);
      return value;
    };
    EXPECT_EQ(length(bytes + 1), bytes + 6);
    EXPECT_EQ(length(bytes + 7), bytes);
  }
}

TEST_F(XSpaceExport, FullDiskIsAnError) {
  auto file = ProtoFile::Create("/dev/full");
  ASSERT_TRUE(file.ok());
  file->Begin(1);
  file->Write(std::string(1 << 20, 'x'));
  file->End();
  EXPECT_THAT(std::string(Message(file->Close())), HasSubstr("/dev/full: cannot write"));
}

}  // namespace
}  // namespace xlaprof
