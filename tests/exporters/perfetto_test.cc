// Tests the Perfetto exporter on the cases of tests/golden/export_timeline. Each has rows and its
// expected packets (CASE.pftrace.txt); other tests check rules that hold for every case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "analyzers/analyzer.h"
#include "exporters/exporter.h"
#include "profiler/store/sql_script.h"
#include "tests/exporters/perfetto_trace.h"
#include "tests/golden_file.h"

namespace xlaprof {

extern const Analyzer recompilation, incomplete_capture;
namespace {

namespace fs = std::filesystem;
using perfetto::TrackEvent;
using testing::ElementsAre;
using testing::HasSubstr;

class PerfettoExport : public testing::Test {
 protected:
  PerfettoExport() {
    std::string name = (fs::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~PerfettoExport() override { fs::remove_all(folder_); }

  static Store Load(std::string_view sql) {
    Store store = *Store::CreateTemporary();
    absl::Status status = RunSqlScript(store, std::string(sql));
    EXPECT_TRUE(status.ok()) << status;
    return store;
  }
  static Store EveryKind() {
    return FindGoldenCase("export_timeline/every_kind").MakeStore().value();
  }
  absl::StatusOr<Exported> Write(const Store& store, const Findings& findings,
                                 const ExportOptions& options) {
    return FindExporter("perfetto")->write(xlaprof::Run(store), findings, options);
  }
  PerfettoTrace Export(const Store& store, const Findings& findings = {}) {
    auto exported = Write(store, findings, {.path = folder_ / "trace"});
    EXPECT_TRUE(exported.ok()) << exported.status();
    if (exported.ok()) exported_ = *exported;
    return PerfettoTrace(ReadFile(folder_ / "trace"));
  }

  fs::path folder_;
  Exported exported_;
};

TEST_F(PerfettoExport, WritesWhatIsExpected) {
  int cases = 0;
  for (const GoldenCase& one : CasesIn(kGolden / "export_timeline")) {
    SCOPED_TRACE(one.name);
    const std::string written = Export(one.MakeStore().value()).Text();
    ExpectFile(kGolden / one.suite / (one.name + ".pftrace.txt"), written);
    ++cases;
  }
  EXPECT_GT(cases, 0);
}

TEST_F(PerfettoExport, HoldsTheStoresEventsOnceEach) {
  Store store = EveryKind();
  const PerfettoTrace trace = Export(store);
  EXPECT_EQ(exported_.event_count, *store.One<int64_t>("SELECT count(*) FROM event").value());
  const size_t begun = trace.Events(TrackEvent::BEGIN).size(),
               instants = trace.Events(TrackEvent::INSTANT).size();
  // Steps 7, 8 and 0 are added to the events.
  EXPECT_EQ(int64_t(begun + instants), exported_.event_count + 3);
  EXPECT_EQ(begun - trace.Events(TrackEvent::END).size(), 2u) << "never ended, PUT";
  EXPECT_EQ(trace.Events(TrackEvent::COUNTER).size(), 4u) << "five samples, one of them infinite";
  EXPECT_THAT(exported_.left_out,
              ElementsAre(HasSubstr("1 flow that cannot be drawn"),
                          HasSubstr("1 counter value without a finite value")));
}

TEST_F(PerfettoExport, ArgumentsKeepTheirTypes) {
  const PerfettoTrace trace = Export(EveryKind());
  auto arguments = trace.ArgumentsOf("step");
  EXPECT_EQ(arguments["largest"], "int_value: 9223372036854775807");
  EXPECT_EQ(arguments["hash"], "string_value: \"18446744073709551615\"");
  EXPECT_EQ(arguments["half"], "double_value: 0.5");
  EXPECT_EQ(arguments["text"], "a \"b\"\nc");
  EXPECT_EQ(arguments["raw"], "string_value: \"00ff10\"");
  arguments = trace.ArgumentsOf("inner");
  EXPECT_EQ(arguments["same"], "int_value: 1");
  EXPECT_EQ(arguments["same (2)"], "int_value: 2");
}

// One event begins each flow, and another ends it that does not come before the first.
TEST_F(PerfettoExport, FlowsMeet) {
  std::map<uint64_t, std::pair<std::string, uint64_t>> from;
  std::multiset<std::string> arrows;
  const PerfettoTrace trace = Export(EveryKind());
  for (const auto& packet : trace.packets()) {
    const TrackEvent& event = packet.track_event();
    for (uint64_t flow : event.flow_ids())
      EXPECT_TRUE(from.emplace(flow, std::pair(trace.NameOf(event), packet.timestamp())).second);
    for (uint64_t flow : event.terminating_flow_ids()) {
      ASSERT_TRUE(from.contains(flow)) << "the host is written before the device";
      EXPECT_LE(from[flow].second, packet.timestamp());
      arrows.insert(fmt::format("{} {} -> {} {}", from[flow].first, from[flow].second,
                                trace.NameOf(event), packet.timestamp()));
    }
  }
  EXPECT_THAT(arrows,
              ElementsAre("launch 10 -> module 15", "launch 20 -> module 50", "launch 20 -> op 50",
                          "launch 30 -> mark 110", "launch 30 -> module 90",
                          "launch 40 -> mark 110", "launch 40 -> module 90"));
  EXPECT_EQ(from.size(), arrows.size()) << "flows that lead nowhere are not begun";
}

TEST_F(PerfettoExport, FindingsStandWhereTheirEvidenceLies) {
  Findings findings(2);
  findings[0] = {.analyzer = &recompilation,
                 .severity = Severity::kWarning,
                 .cost_ns = 5,
                 .evidence = {{.table = "event", .rows = {30}}},
                 .words = {.title = "recompiled \"twice\""}};
  findings[1] = {.analyzer = &incomplete_capture, .words = {.title = "nothing was seen"}};
  const PerfettoTrace trace = Export(EveryKind(), findings);
  std::vector<std::string> seen;
  for (const auto& packet : trace.packets()) {
    const TrackEvent& event = packet.track_event();
    if (event.categories_size() == 0 || event.categories(0) != "xlaprof.finding") continue;
    seen.push_back(fmt::format("{} {} {}", packet.timestamp(), TrackEvent::Type_Name(event.type()),
                               trace.TrackOf(event)));
  }
  EXPECT_THAT(seen, ElementsAre("0 INSTANT findings", "10 BEGIN findings"));
  auto arguments = trace.ArgumentsOf("recompilation: recompiled \"twice\"");
  EXPECT_EQ(arguments["severity"], "string_value: \"warning\"");
  EXPECT_EQ(arguments["cost_ns"], "int_value: 5");
}

// Regression: findings stood last in Perfetto's list, because it orders processes by their number of
// slices. Only tracks of no process stand above them.
TEST_F(PerfettoExport, FindingsAndStepsStandAboveAllProcesses) {
  Findings findings(1);
  findings[0] = {.analyzer = &incomplete_capture, .words = {.title = "nothing was seen"}};
  const PerfettoTrace trace = Export(EveryKind(), findings);
  std::set<std::string> added;  // tracks with xlaprof's own events
  for (const auto& packet : trace.packets()) {
    const TrackEvent& event = packet.track_event();
    if (event.categories_size() == 0 || !event.categories(0).starts_with("xlaprof.")) continue;
    added.insert(trace.TrackOf(event));
    const auto& group = trace.tracks().at(trace.tracks().at(event.track_uuid()).parent_uuid());
    EXPECT_EQ(group.name(), "xlaprof: findings and steps");
    EXPECT_FALSE(group.has_process());
    EXPECT_FALSE(group.has_parent_uuid());
  }
  EXPECT_GE(added.size(), 2u);
  EXPECT_TRUE(added.contains("findings"));
}

TEST_F(PerfettoExport, CountersHaveTheUnitThatTheirNameTells) {
  const PerfettoTrace trace = Export(
      Load("INSERT INTO track (id, kind, name, sort) VALUES (1, 'counter', 'memory (bytes)', "
           "0), (2, 'counter', 'wait (ns)', 1), (3, 'counter', 'link (GB/s)', 2), "
           "(4, 'counter', 'f(x)+1', 3); INSERT INTO counter_sample VALUES (1, 5, 0.5);"));
  std::map<std::string, std::string> units;
  for (const auto& [uuid, track] : trace.tracks()) {
    if (track.has_counter()) units[track.name()] = track.counter().ShortDebugString();
  }
  EXPECT_THAT(units, ElementsAre(testing::Pair("f(x)+1", ""),
                                 testing::Pair("link (GB/s)", "unit_name: \"GB/s\""),
                                 testing::Pair("memory (bytes)", "unit: 3"),
                                 testing::Pair("wait (ns)", "unit: 1")));
  ASSERT_EQ(trace.Events(TrackEvent::COUNTER).size(), 1u);
  EXPECT_EQ(trace.Events(TrackEvent::COUNTER)[0]->track_event().double_counter_value(), 0.5);
}

TEST_F(PerfettoExport, RealTimeIsToldWhereItIsKnown) {
  constexpr const char* kEvent =
      "INSERT INTO track (id, kind, name, sort) VALUES (1, 'host_thread', 't', 0);"
      "INSERT INTO event (id, track_id, ts_ns, dur_ns, name) VALUES (1, 1, -5, 1, 'a');";
  auto clock = [&](const std::string& sql) {
    const PerfettoTrace trace = Export(Load(sql));
    for (const auto& packet : trace.packets()) {
      if (packet.has_clock_snapshot()) return packet.clock_snapshot().ShortDebugString();
    }
    return std::string("none");
  };
  EXPECT_EQ(clock(kEvent), "none");
  EXPECT_EQ(clock(std::string(kEvent) +
                  "INSERT INTO meta (key, value) VALUES ('base_epoch_ns', '1000');"),
            "clocks { clock_id: 6 timestamp: 0 } clocks { clock_id: 1 timestamp: 995 } "
            "primary_trace_clock: 6")
      << "the first event is at 0";
}

// The store has invalid text, and times that no signed number can hold. What cannot be written is
// counted, and the rest is written.
TEST_F(PerfettoExport, HostileStoresAreWritten) {
  const PerfettoTrace trace = Export(
      Load("INSERT INTO track (id, kind, name, sort) VALUES (1, 'host_thread', CAST(x'610062ff' AS "
           "TEXT), 0), (2, 'counter', 'c', 1), (3, 'async', CAST(x'00' AS TEXT), 2);"
           "INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES "
           "(1, 1, '-9223372036854775808', 9, 'first', 'x'), "
           "(2, 1, 0, 9223372036854775807, 'whole', ''), (3, 1, 10, 20, CAST(x'6100c3' AS TEXT), "
           "'c'), (4, 1, 11, 0, printf('%.1000000c', 'x'), NULL), "
           "(5, 1, 9223372036854775807, 0, 'last', NULL), "
           "(6, 3, 1, 9223372036854775807, 'open', ''), (7, 3, 2, NULL, 'open', '');"
           "INSERT INTO arg (event_id, key, type, value) VALUES (3, '', 'int', 1), "
           "(3, '', 'int', 2), (3, 'k', 'string', CAST(x'ff00' AS TEXT));"
           "INSERT INTO counter_sample VALUES (2, '-9223372036854775808', 1), (2, 7, 2);"));
  EXPECT_EQ(exported_.event_count, 5);
  EXPECT_THAT(exported_.left_out,
              ElementsAre("3 starts before the trace's 0, or 292 years behind it",
                          "2 ends 292 years behind the trace's 0: shown as if there were none"));
  EXPECT_THAT(trace.ArgumentsOf("a\uFFFD\uFFFD"),
              ElementsAre(testing::Pair("", "int_value: 1"), testing::Pair(" (2)", "int_value: 2"),
                          testing::Pair("k", "\uFFFD\uFFFD")));
  EXPECT_EQ(trace.Events(TrackEvent::INSTANT).size(), 1u);
}

TEST_F(PerfettoExport, SliceLeavesOutWhatLiesOutside) {
  Store store = EveryKind();
  ASSERT_TRUE(store.Restrict({.from_ns = 200, .to_ns = 1000}).ok());
  std::vector<uint64_t> starts;
  const PerfettoTrace trace = Export(store);
  for (const auto* packet : trace.Events(TrackEvent::BEGIN)) {
    if (trace.TrackOf(packet->track_event()) == "Grüße, 世界")
      starts.push_back(packet->timestamp());
  }
  EXPECT_THAT(starts, ElementsAre(200, 300, 400));
}

TEST_F(PerfettoExport, GzipHoldsTheSameBytes) {
  Store store = EveryKind();
  Export(store);
  const std::string plain = ReadFile(folder_ / "trace");
  ASSERT_TRUE(Write(store, {}, {.path = folder_ / "packed", .gzip = true}).ok());
  gzFile file = gzopen((folder_ / "packed").c_str(), "rb");
  std::string bytes(plain.size() + 1, 0);
  EXPECT_EQ(gzread(file, bytes.data(), unsigned(bytes.size())), int(plain.size()));
  EXPECT_FALSE(gzdirect(file)) << "not compressed";
  gzclose(file);
  bytes.pop_back();
  EXPECT_EQ(bytes, plain);
}

TEST_F(PerfettoExport, SaysWhenItCannotWrite) {
  Store store = EveryKind();
  EXPECT_THAT(std::string(Write(store, {}, {.path = folder_ / "no/such"}).status().message()),
              HasSubstr("no/such: cannot write: No such file"));
  for (bool gzip : {false, true}) {
    auto full = Write(store, {}, {.path = "/dev/full", .gzip = gzip});
    EXPECT_THAT(std::string(full.status().message()), HasSubstr("No space left"));
  }
}

}  // namespace
}  // namespace xlaprof
