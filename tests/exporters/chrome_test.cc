// Tests the Chrome exporter on the cases of tests/golden/export_timeline. Each has rows
// and its expected output (CASE.json); other tests check rules that hold for every case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analyzers/analyzer.h"
#include "exporters/exporter.h"
#include "profiler/store/events.h"
#include "tests/golden_file.h"

namespace xlaprof {

extern const Analyzer recompilation, incomplete_capture;
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const Exporter& Chrome() { return *FindExporter("chrome"); }

class ChromeExport : public testing::Test {
 protected:
  ChromeExport() {
    std::string name = (fs::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ChromeExport() override { fs::remove_all(folder_); }

  static Store EveryKind() {
    return FindGoldenCase("export_timeline/every_kind").MakeStore().value();
  }
  std::string Export(const Store& store, const Findings& findings = {}, bool gzip = false) {
    const fs::path path = folder_ / "trace";
    auto exported = Chrome().write(xlaprof::Run(store), findings, {.path = path, .gzip = gzip});
    EXPECT_TRUE(exported.ok()) << exported.status();
    if (exported.ok()) exported_ = *exported;
    return ReadFile(path);
  }
  // Returns the events of a trace whose phase is one of `phases`, with the name of their thread.
  std::vector<json> Events(const std::string& trace, std::string_view phases) {
    json parsed = json::parse(trace);
    std::map<std::pair<int64_t, int64_t>, std::string> threads;
    std::vector<json> out;
    for (const json& event : parsed["traceEvents"]) {
      if (event["name"] == "thread_name")
        threads[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
    for (json event : parsed["traceEvents"]) {
      if (phases.find(event["ph"].get<std::string>()) == std::string_view::npos) continue;
      event["thread"] = threads[{event["pid"], event["tid"]}];
      out.push_back(std::move(event));
    }
    return out;
  }
  fs::path folder_;
  Exported exported_;
};

TEST_F(ChromeExport, WritesWhatIsExpected) {
  int cases = 0;
  for (const GoldenCase& one : CasesIn(kGolden / "export_timeline")) {
    SCOPED_TRACE(one.name);
    const std::string written = Export(one.MakeStore().value());
    ExpectFile(kGolden / one.suite / (one.name + ".json"), written);
    ++cases;
  }
  EXPECT_GT(cases, 0);
}

TEST_F(ChromeExport, IsJsonWithoutRawControlCharacters) {
  const std::string written = Export(EveryKind());
  EXPECT_TRUE(json::accept(written));  // accept() refuses invalid UTF-8
  for (char c : written) EXPECT_TRUE(uint8_t(c) >= 0x20 || c == '\n');
}

TEST_F(ChromeExport, HoldsTheStoresEventsOnceEach) {
  Store store = EveryKind();
  const std::string written = Export(store);
  EXPECT_EQ(exported_.event_count, *store.One<int64_t>("SELECT count(*) FROM event").value());
  // Steps 7, 8 and 0 are added to the events.
  EXPECT_EQ(int64_t(Events(written, "XiBb").size()), exported_.event_count + 3);
  EXPECT_EQ(Events(written, "B").size(), 1u);
  EXPECT_EQ(Events(written, "C").size(), 4u) << "five samples, one of them infinite";
  EXPECT_THAT(exported_.left_out,
              ElementsAre(HasSubstr("1 flow that cannot be drawn"),
                          HasSubstr("1 counter value without a finite value")));
}

// Perfetto drops an event that overlaps another of its thread without nesting in it.
TEST_F(ChromeExport, NoThreadHasEventsThatOverlap) {
  std::map<std::pair<int64_t, int64_t>, std::vector<std::pair<int64_t, int64_t>>> open;
  const std::string written = Export(EveryKind());
  auto ns = [](const json& micros) { return std::llround(micros.get<double>() * 1000); };
  int lanes = 0;
  for (const json& event : Events(written, "X")) {
    auto& around = open[{event["pid"], event["tid"]}];
    const int64_t ts = ns(event["ts"]), end = ts + ns(event["dur"]);
    while (!around.empty() && around.back().second <= ts) around.pop_back();
    if (!around.empty()) {
      EXPECT_LE(end, around.back().second) << event;
    }
    around.emplace_back(ts, end);
    lanes += event["thread"] == "Async XLA Ops (2)" || event["thread"] == "Async XLA Ops (3)";
  }
  EXPECT_EQ(lanes, 3) << "copy-start.2, what lies in it, and copy-start.3";
}

// "module" at 0.05 is covered, because "op" starts in it at once. Arrows to a covered end are
// written on the events themselves.
TEST_F(ChromeExport, ArrowsStandAtTheirEvents) {
  const json trace = json::parse(Export(EveryKind()));
  std::map<int64_t, std::string> from;
  std::multiset<std::string> arrows;
  json event;
  for (const json& record : trace["traceEvents"]) {
    const std::string phase = record["ph"];
    const bool separate = phase == "s" || phase == "f";
    if (!separate) event = record;
    EXPECT_EQ(record.value("ts", 0.0), event.value("ts", 0.0)) << record;
    EXPECT_EQ(record["tid"], event["tid"]) << record;
    const std::string at =
        fmt::format("{} {}", event["name"].get<std::string>(), event.value("ts", 0.0));
    if (phase == "s" || record.contains("flow_out")) {
      const int64_t id = record[separate ? "id" : "bind_id"];
      EXPECT_TRUE(from.emplace(id, at).second) << "ids are unique: " << record;
    } else if (phase == "f" || record.contains("flow_in")) {
      const int64_t id = record[separate ? "id" : "bind_id"];
      ASSERT_TRUE(from.contains(id)) << "the host is written before the device";
      arrows.insert(fmt::format("{}: {} -> {}", separate ? "beside" : "on", from[id], at));
    }
    if (phase == "f") {
      EXPECT_EQ(record["bp"], "e");
    }
  }
  EXPECT_THAT(arrows,
              ElementsAre("beside: launch 0.01 -> module 0.015", "beside: launch 0.03 -> mark 0.11",
                          "beside: launch 0.03 -> module 0.09", "beside: launch 0.04 -> mark 0.11",
                          "beside: launch 0.04 -> module 0.09", "on: launch 0.02 -> module 0.05",
                          "on: launch 0.02 -> op 0.05"));
  EXPECT_EQ(from.size(), 4u) << "flows that lead nowhere have no arrow";
}

// Events that nest are one operation, whose ends come from the inside out. Events that overlap it
// are another operation, and so are the events after which the track is named.
TEST_F(ChromeExport, AsynchronousEventsThatNestShareAnId) {
  Store store = *Store::CreateTemporary();
  ASSERT_TRUE(store.Begin().ok());
  const int64_t process = *store.Add(ProcessRow{});
  const int64_t track =
      *store.Add(TrackRow{.process_id = process, .kind = TrackKind::kAsync, .name = "get"});
  EventWriter writer(store);
  auto add = [&](const char* name, int64_t ts_ns, int64_t dur_ns) {
    const StringId id = *store.Intern(name);
    ASSERT_TRUE(writer.Add(track, Event{.ts_ns = ts_ns, .dur_ns = dur_ns, .name = id}).ok());
  };
  add("get", 0, 10'000);
  add("parse", 2'000, 8'000);
  add("mark", 3'000, 0);
  add("get", 4'000, 20'000);
  add("get", 5'000, 1'000);
  add("parse", 12'000, 5'000);
  add("get", 30'000, kUnknownDuration);
  ASSERT_TRUE(writer.Flush().ok());
  std::map<int64_t, std::string> ids;
  for (const json& event : Events(Export(store), "be")) {
    ids[event["id"]] += event["ph"].get<std::string>() + " " + event["name"].get<std::string>() +
                        fmt::format(" {}, ", event["ts"].get<double>());
  }
  EXPECT_THAT(ids,
              ElementsAre(testing::Pair(1,
                                        "b get 0, b parse 2, b mark 3, e mark 3, "
                                        "e parse 10, e get 10, "),
                          testing::Pair(2, "b get 4, b parse 12, e parse 17, e get 24, "),
                          testing::Pair(3, "b get 5, e get 6, "), testing::Pair(4, "b get 30, ")));
}

// Labels show which process a device belongs to.
TEST_F(ChromeExport, LabelsOfProcessesDiffer) {
  Store store = *Store::CreateTemporary();
  ASSERT_TRUE(store.Begin().ok());
  for (const char* name : {"A", "B"}) {
    const int64_t process = *store.Add(ProcessRow{.name = name});
    for (const OptText& device : {OptText(), OptText("TPU:0")}) {
      ASSERT_TRUE(store
                      .Add(TrackRow{.process_id = process,
                                    .kind = TrackKind::kHostThread,
                                    .name = "t",
                                    .device = device})
                      .ok());
    }
  }
  std::vector<std::string> labels;
  for (const json& event : Events(Export(store), "M")) {
    if (event["name"] == "process_labels") labels.push_back(event["args"]["labels"]);
  }
  EXPECT_THAT(labels, ElementsAre("steps and findings", "process 1", "process 1", "process 2",
                                  "process 2"));
}

TEST_F(ChromeExport, SliceLeavesOutWhatLiesOutside) {
  Store store = EveryKind();
  ASSERT_TRUE(store.Restrict({.from_ns = 200, .to_ns = 1000}).ok());
  std::vector<std::string> names;
  for (const json& event : Events(Export(store), "XiBb")) {
    if (event["thread"] == "Grüße, 世界") names.push_back(event["ts"].dump());
  }
  EXPECT_THAT(names, ElementsAre("0.2", "0.3", "0.4"));
  Store rank1 = EveryKind();
  ASSERT_TRUE(rank1.Restrict({.process_id = 2}).ok());
  for (const json& event : Events(Export(rank1), "XiBbC"))
    EXPECT_THAT(event["thread"], testing::AnyOf("main", "XLA Modules", "of no process", "steps"));
}

// One store's clock begins after its first events, and another counts from 1970 without declaring
// it.
TEST_F(ChromeExport, NoTimeIsNegativeOrTooLarge) {
  for (int64_t first_ns : {int64_t{-5'000'000'000}, int64_t{1'766'000'000'000'000'123}}) {
    Store store = *Store::CreateTemporary();
    ASSERT_TRUE(store.SetMeta("base_epoch_ns", "10000000000").ok());
    EventWriter writer(store);
    ASSERT_TRUE(store.Add(TrackRow{.kind = TrackKind::kHostThread, .name = "t"}).ok());
    ASSERT_TRUE(writer.Add(1, {.ts_ns = first_ns, .dur_ns = 7, .name = *store.Intern("a")}).ok());
    ASSERT_TRUE(
        writer.Add(1, {.ts_ns = first_ns + 8, .dur_ns = 7, .name = *store.Intern("b")}).ok());
    ASSERT_TRUE(writer.Flush().ok());
    const std::string written = Export(store);
    EXPECT_THAT(written, HasSubstr("\"ts\":0.000,\"dur\":0.007,\"name\":\"a\""));
    EXPECT_THAT(written, HasSubstr("\"ts\":0.008,\"dur\":0.007,\"name\":\"b\""));
    EXPECT_THAT(written,
                HasSubstr(fmt::format("\"baseTimeNanoseconds\":{},", 10'000'000'000 + first_ns)));
  }
}

TEST_F(ChromeExport, ExtremeTimesDoNotOverflow) {
  Store store = *Store::CreateTemporary();
  EventWriter writer(store);
  ASSERT_TRUE(store.Add(TrackRow{.kind = TrackKind::kHostThread, .name = "t"}).ok());
  ASSERT_TRUE(
      writer.Add(1, {.ts_ns = INT64_MIN, .dur_ns = INT64_MAX, .name = *store.Intern("a")}).ok());
  ASSERT_TRUE(
      writer.Add(1, {.ts_ns = INT64_MAX, .dur_ns = INT64_MAX, .name = *store.Intern("b")}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  const std::string written = Export(store);
  EXPECT_TRUE(json::accept(written));
  EXPECT_THAT(written, HasSubstr("\"ts\":18446744073709551.615,\"dur\":9223372036854775.807"));
}

TEST_F(ChromeExport, FindingsStandWhereTheirEvidenceLies) {
  Store store = EveryKind();
  Findings findings(2);
  findings[0] = {.analyzer = &recompilation,
                 .severity = Severity::kWarning,
                 .subject = {.file = "train.py", .line = 7},
                 .cost_ns = 5,
                 .evidence = {{.table = "event", .rows = {30, 41}},
                              {.table = "step", .rows = {1}, .ts_ns = 3, .dur_ns = 4},
                              {.table = "metric", .rows = {1}}},
                 .words = {.title = "recompiled \"twice\"", .advice = "pad it"}};
  findings[1] = {.analyzer = &incomplete_capture, .words = {.title = "nothing was seen"}};
  std::vector<std::string> seen;
  for (const json& event : Events(Export(store, findings), "Xi")) {
    if (event.value("cat", "") != "xlaprof.finding") continue;
    seen.push_back(fmt::format("{} {} {}", event["ts"].dump(), event.value("dur", 0.0),
                               event["thread"].get<std::string>()));
    if (event["args"]["kind"] != "recompilation") continue;
    EXPECT_EQ(event["name"], "recompilation: recompiled \"twice\"");
    EXPECT_EQ(event["args"]["where"], "train.py:7");
    EXPECT_EQ(event["args"]["advice"], "pad it");
    EXPECT_EQ(event["args"]["severity"], "warning");
    EXPECT_EQ(event["args"]["cost_ns"], 5);
  }
  EXPECT_THAT(seen, ElementsAre("0.0 1000 findings", "0.0 0 findings", "0.01 0.005 findings",
                                "0.05 0.03 findings"));
}

TEST_F(ChromeExport, GzipHoldsTheSameText) {
  Store store = EveryKind();
  const std::string plain = Export(store);
  Export(store, {}, /*gzip=*/true);
  gzFile file = gzopen((folder_ / "trace").c_str(), "rb");
  std::string text(plain.size() + 1, 0);
  EXPECT_EQ(gzread(file, text.data(), unsigned(text.size())), int(plain.size()));
  EXPECT_FALSE(gzdirect(file)) << "not compressed";
  gzclose(file);
  text.pop_back();
  EXPECT_EQ(text, plain);
}

TEST_F(ChromeExport, SaysWhenItCannotWrite) {
  Store store = EveryKind();
  auto missing = Chrome().write(xlaprof::Run(store), {}, {.path = folder_ / "no/such"});
  EXPECT_THAT(std::string(Message(missing.status())),
              HasSubstr("no/such: cannot write: No such file"));
  for (bool gzip : {false, true}) {
    auto full = Chrome().write(xlaprof::Run(store), {}, {.path = "/dev/full", .gzip = gzip});
    EXPECT_THAT(std::string(Message(full.status())), HasSubstr("No space left"));
  }
}

}  // namespace
}  // namespace xlaprof
