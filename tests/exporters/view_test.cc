// Tests the viewer's data (docs/formats/view.md): for small stores against written-out answers, and
// for random events against the rules themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "exporters/exporter.h"
#include "exporters/view/details.h"
#include "exporters/view/event.h"
#include "exporters/view/findings.h"
#include "exporters/view/run.h"
#include "exporters/view/search.h"
#include "exporters/view/slices.h"
#include "exporters/view/totals.h"
#include "tests/exporters/view_decoder.h"
#include "tests/read_file.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class T>
T Value(absl::StatusOr<T> value) {
  EXPECT_TRUE(value.ok()) << value.status();
  return *std::move(value);
}

struct Made {
  int64_t track, ts_ns, dur_ns;
  std::string name, category = "op";
};

class View : public testing::Test {
 protected:
  int64_t Track(const std::string& name, TrackKind kind = TrackKind::kHostThread) {
    return Value(
        store_.Add(TrackRow{.process_id = 1, .kind = kind, .name = name, .sort = sort_++}));
  }
  void Write(const std::vector<Made>& events) {
    ASSERT_TRUE(store_.Begin().ok());
    EventWriter writer(store_);
    for (const Made& made : events) {
      Event event{.ts_ns = made.ts_ns, .dur_ns = made.dur_ns};
      event.name = Value(store_.Intern(made.name));
      event.category = Value(store_.Intern(made.category));
      ASSERT_TRUE(writer.Add(made.track, event).ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
    ASSERT_TRUE(store_.Commit().ok());
  }
  ViewLanes Lanes() { return Value(ViewLanes::Make(store_)); }
  DecodedSlices Slices(const ViewLanes& lanes, const SlicesAsked& asked) {
    return DecodeSlices(Value(EncodeSlices(store_, lanes, asked)));
  }

  Store store_ = Value(Store::CreateTemporary());
  int64_t sort_ = 0;
  View() { Value(store_.Add(ProcessRow{.pid = 7, .name = "trainer"})); }
};

TEST_F(View, EventsLieInRowsByNesting) {
  const int64_t track = Track("main");
  Write({{track, 100, 50, "outer"}, {track, 110, 10, "inner"}, {track, 160, 0, "instant"}});
  const ViewLanes lanes = Lanes();
  ASSERT_EQ(lanes.lanes().size(), 1u);
  EXPECT_EQ(lanes.lanes()[0].rows, 2);
  EXPECT_EQ(lanes.lanes()[0].events, 3);
  EXPECT_EQ(lanes.origin_ns(), 100);
  EXPECT_EQ(lanes.end_ns(), 60);
  const DecodedSlices slices = Slices(lanes, {.lanes = {track}, .to_ns = 60});
  ASSERT_EQ(slices.lanes.size(), 1u);
  ASSERT_EQ(slices.lanes[0].rows.size(), 2u);
  const auto& outer = slices.lanes[0].rows[0];
  ASSERT_EQ(outer.size(), 2u);
  EXPECT_EQ(outer[0].ts_ns, 0);
  EXPECT_EQ(outer[0].dur_ns, 50);
  EXPECT_EQ(slices.names.at(outer[0].name), "outer");
  EXPECT_EQ(Vocabulary<Category>::kWords[outer[0].category], "op");
  EXPECT_EQ(outer[1].dur_ns, 0);
  EXPECT_EQ(slices.lanes[0].rows[1][0].ts_ns, 10);
}

TEST_F(View, OverlappingEventsLieSideBySide) {
  const int64_t track = Track("requests", TrackKind::kAsync);
  Write({{track, 0, 100, "a"},
         {track, 50, 100, "b"},
         {track, 60, 20, "in b"},
         {track, 120, 10, "in b"}});
  const ViewLanes lanes = Lanes();
  const DecodedSlices slices = Slices(lanes, {.lanes = {track}, .to_ns = lanes.end_ns()});
  std::map<std::string, std::vector<size_t>> rows;
  for (size_t row = 0; row < slices.lanes[0].rows.size(); ++row) {
    int64_t last_end_ns = 0;
    for (const auto& slice : slices.lanes[0].rows[row]) {
      EXPECT_GE(slice.ts_ns, last_end_ns) << "row " << row;
      last_end_ns = slice.ts_ns + slice.dur_ns;
      rows[slices.names.at(slice.name)].push_back(row);
    }
  }
  EXPECT_THAT(rows["a"], ElementsAre(0));
  EXPECT_THAT(rows["b"], ElementsAre(1));
  EXPECT_THAT(rows["in b"], ElementsAre(2, 2));
}

TEST_F(View, AnEventThatNeverEndedSaysSo) {
  const int64_t track = Track("main");
  Write({{track, 0, 10, "done"}, {track, 20, kUnknownDuration, "open"}, {track, 30, 5, "inside"}});
  const ViewLanes lanes = Lanes();
  const DecodedSlices slices = Slices(lanes, {.lanes = {track}, .to_ns = lanes.end_ns()});
  EXPECT_EQ(slices.lanes[0].rows[0][1].dur_ns, -1);
  EXPECT_EQ(slices.names.at(slices.lanes[0].rows[1][0].name), "inside");
}

// However slices are merged, nothing overlaps, nothing is lost, and events that are long enough are
// separate.
TEST_F(View, MergedSlicesHoldAllEvents) {
  const int64_t track = Track("main");
  std::mt19937_64 random(5);
  std::vector<Made> events;
  int64_t ts_ns = 0;
  for (int i = 0; i < 20'000; ++i) {
    ts_ns += int64_t(random() % 200);
    const int64_t dur_ns = random() % 10 == 0 ? int64_t(random() % 5000) : int64_t(random() % 50);
    events.push_back({track, ts_ns, dur_ns, "n" + std::to_string(random() % 20)});
    if (random() % 3 == 0) events.push_back({track, ts_ns + dur_ns / 4, dur_ns / 2, "child"});
    ts_ns += dur_ns;
  }
  Write(events);
  const ViewLanes lanes = Lanes();
  for (const int64_t resolution_ns : {0, 1, 64, 1000, 1 << 20}) {
    const DecodedSlices slices =
        Slices(lanes, {.lanes = {track}, .to_ns = lanes.end_ns(), .resolution_ns = resolution_ns});
    const auto& lane = slices.lanes[0];
    EXPECT_EQ(lane.resolution_ns, resolution_ns);
    int64_t count = 0, long_ones = 0;
    for (const auto& row : lane.rows) {
      int64_t last_end_ns = INT64_MIN, last_cell = -1;
      for (const auto& slice : row) {
        EXPECT_GE(slice.ts_ns, last_end_ns);
        last_end_ns = slice.ts_ns + slice.dur_ns;
        count += slice.count;
        if (resolution_ns == 0) {
          EXPECT_EQ(slice.count, 1);
          continue;
        }
        if (slice.count == 1 && slice.dur_ns >= resolution_ns) {
          ++long_ones;
          continue;
        }
        EXPECT_GT(slice.ts_ns / resolution_ns, last_cell);  // one per cell
        last_cell = slice.ts_ns / resolution_ns;
      }
    }
    EXPECT_EQ(count, int64_t(events.size())) << resolution_ns;
    const auto expected = std::count_if(events.begin(), events.end(), [&](const Made& event) {
      return resolution_ns > 0 && event.dur_ns >= resolution_ns;
    });
    EXPECT_EQ(long_ones, expected);
  }
  // A part of the range holds all events that overlap it.
  const int64_t from_ns = lanes.end_ns() / 3, to_ns = lanes.end_ns() / 2;
  const DecodedSlices part = Slices(lanes, {.lanes = {track}, .from_ns = from_ns, .to_ns = to_ns});
  int64_t count = 0;
  for (const auto& row : part.lanes[0].rows) count += int64_t(row.size());
  EXPECT_EQ(count, std::count_if(events.begin(), events.end(), [&](const Made& event) {
              const int64_t at_ns = event.ts_ns - lanes.origin_ns();
              return at_ns <= to_ns && at_ns + event.dur_ns >= from_ns;
            }));
}

TEST_F(View, SmallLanesComeWhole) {
  const int64_t track = Track("main");
  Write({{track, 0, 1, "a"}, {track, 1000, 1, "b"}});
  const ViewLanes lanes = Lanes();
  const DecodedSlices slices =
      Slices(lanes, {.lanes = {track, 999}, .from_ns = 500, .to_ns = 600, .resolution_ns = 100});
  ASSERT_EQ(slices.lanes.size(), 1u);  // lane 999 does not exist
  EXPECT_EQ(slices.lanes[0].from_ns, 0);
  EXPECT_EQ(slices.lanes[0].to_ns, lanes.end_ns());
  EXPECT_EQ(slices.lanes[0].resolution_ns, 0);
  EXPECT_EQ(slices.lanes[0].rows[0].size(), 2u);
}

// Regression: each lane copied the list of all lanes, which here would take terabytes of copies and
// minutes.
TEST_F(View, AnAnswerTakesTimeForItsLanesOnce) {
  constexpr int kLanes = 20'000;
  std::vector<Made> events;
  ASSERT_TRUE(store_.Begin().ok());
  for (int i = 0; i < kLanes; ++i) events.push_back({Track("t"), i, 1, "e"});
  ASSERT_TRUE(store_.Commit().ok());
  Write(events);
  const ViewLanes lanes = Lanes();
  SlicesAsked asked{.lanes = std::vector<int64_t>(8'000'000, /*unknown*/ -1), .to_ns = kLanes};
  for (const ViewLane& lane : lanes.lanes()) asked.lanes.push_back(lane.id);
  const clock_t begin = clock();
  const std::string slices = Value(EncodeSlices(store_, lanes, asked));
  EXPECT_LT((clock() - begin) / CLOCKS_PER_SEC, 60);
  EXPECT_EQ(DecodeSlices(slices).lanes.size(), size_t(kLanes));
}

TEST_F(View, CountersKeepTheirExtremes) {
  const int64_t track = Track("bytes", TrackKind::kCounter);
  ASSERT_TRUE(store_.Begin().ok());
  EventWriter writer(store_);
  for (int64_t i = 0; i < 10'000; ++i)
    ASSERT_TRUE(writer.Counter(track, i * 10, i == 5000 ? 1e9 : double(i % 7)).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_TRUE(store_.Commit().ok());
  const ViewLanes lanes = Lanes();
  EXPECT_EQ(lanes.lanes()[0].events, 10'000);
  const DecodedSlices slices =
      Slices(lanes, {.lanes = {track}, .to_ns = lanes.end_ns(), .resolution_ns = 10'000});
  const auto& samples = slices.lanes[0].samples;
  EXPECT_EQ(samples.size(), 10u);
  EXPECT_EQ(samples[5].ts_ns, 50'000);
  EXPECT_EQ(samples[5].greatest, 1e9);
  EXPECT_EQ(samples[4].least, 0);
  EXPECT_EQ(samples[4].greatest, 6);
  EXPECT_EQ(samples[9].last, double(9999 % 7));
}

TEST_F(View, TotalsCountTheInsideOfTheRange) {
  const int64_t track = Track("main");
  Write({{track, 0, 100, "step"},
         {track, 10, 20, "op"},
         {track, 40, 20, "op"},
         {track, 45, 5, "leaf"},
         {track, 100, 100, "step"}});
  const ViewLanes lanes = Lanes();
  auto of = [&](int64_t from_ns, int64_t to_ns) {
    std::map<std::string, NameTotals> by_name;
    for (const NameTotals& totals : Value(TotalsByName(store_, lanes, {track}, from_ns, to_ns)))
      by_name[std::string(store_.Text(totals.name))] = totals;
    return by_name;
  };
  auto all = of(0, 201);
  EXPECT_EQ(all["step"].count, 2);
  EXPECT_EQ(all["step"].total_ns, 200);
  EXPECT_EQ(all["step"].self_ns, 160);
  EXPECT_EQ(all["op"].total_ns, 40);
  EXPECT_EQ(all["op"].self_ns, 35);
  EXPECT_EQ(all["leaf"].max_ns, 5);
  // This part has the end of one op and of its leaf, half of a step, and some of the other.
  auto part = of(50, 120);
  EXPECT_EQ(part["step"].count, 2);
  EXPECT_EQ(part["step"].total_ns, 70);
  EXPECT_EQ(part["step"].self_ns, 60);
  EXPECT_EQ(part["op"].count, 1);
  EXPECT_EQ(part["op"].total_ns, 10);
  EXPECT_EQ(part.count("leaf"), 0u);
}

// Regression: a page with merged slices summed the slices as if each were one event.
TEST_F(View, TotalsOfMergedLanesAreExact) {
  const int64_t track = Track("main"), small = Track("small");
  std::vector<Made> events{{small, 0, 10, "few"}};
  for (int64_t i = 0; i < 6000; ++i) {
    events.push_back({track, i * 100, 60, "outer"});
    events.push_back({track, i * 100 + 10, i == 7 ? 40 : 20, i % 2 == 0 ? "even" : "odd"});
  }
  Write(events);
  const auto totals = DecodeTotals(Value(EncodeTotals(store_, Lanes())));
  ASSERT_EQ(totals.size(), 1u) << "the events of a small lane are never merged";
  const auto& by_name = totals.at(track);
  EXPECT_EQ(by_name.at("outer"), (DecodedTotals{6000, 360'000, 60, 60, 239'980}));
  EXPECT_EQ(by_name.at("even"), (DecodedTotals{3000, 60'000, 20, 20, 60'000}));
  EXPECT_EQ(by_name.at("odd"), (DecodedTotals{3000, 60'020, 20, 40, 60'020}));
}

TEST_F(View, APageThatMergesEventsHoldsTheirTotalsAndSaysSo) {
  const int64_t track = Track("main");
  std::vector<Made> events;
  for (int64_t i = 0; i < 6000; ++i) events.push_back({track, i * 100, 60, "op"});
  Write(events);
  const auto page = [&](int64_t max_slices) {
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / fmt::format("page_{}.html", max_slices);
    const Exported exported = Value(FindExporter("html")->write(
        xlaprof::Run(store_), {}, {.path = path, .max_page_slices = max_slices}));
    const std::string html = ReadFile(path);
    const bool has_totals =
        html.find("<script id=\"totals\" type=\"text/plain\"></script>") == html.npos;
    return std::pair(has_totals, exported.left_out.size());
  };
  EXPECT_EQ(page(6000), std::pair(false, size_t{0}));
  EXPECT_EQ(page(5999), std::pair(true, size_t{2})) << "short events, and arguments and flows";
}

TEST_F(View, SearchGoesRoundInBothDirections) {
  const int64_t one = Track("one"), two = Track("two");
  Write({{one, 0, 5, "MatMul"},
         {two, 10, 5, "matmul.3"},
         {one, 20, 5, "other"},
         {one, 30, 5, "matmul"}});
  const ViewLanes lanes = Lanes();
  json at = {{"event", {{"ts_ns", 0}, {"id", 0}}}};
  auto go = [&](std::string_view text, bool backwards) {
    at = json::parse(Value(SearchJson(store_, lanes,
                                      {.text = text,
                                       .backwards = backwards,
                                       .ts_ns = at["event"]["ts_ns"],
                                       .id = at["event"]["id"]})));
    return std::pair(at["index"].get<int>(), at["event"]["name"].get<std::string>());
  };
  EXPECT_EQ(go("MATMUL", false), std::pair(0, std::string("MatMul")));
  EXPECT_EQ(at["count"], 3);
  EXPECT_EQ(at["names"].size(), 3u);
  EXPECT_EQ(go("matmul", false), std::pair(1, std::string("matmul.3")));
  EXPECT_EQ(at["event"]["lane"], two);
  EXPECT_EQ(go("matmul", false), std::pair(2, std::string("matmul")));
  EXPECT_EQ(go("matmul", false), std::pair(0, std::string("MatMul")));  // starts again
  EXPECT_EQ(go("matmul", true), std::pair(2, std::string("matmul")));
  EXPECT_EQ(go("matmul", true), std::pair(1, std::string("matmul.3")));
  const json none = json::parse(Value(SearchJson(store_, lanes, {.text = "100%_"})));
  EXPECT_EQ(none["count"], 0);
  EXPECT_TRUE(none["event"].is_null());
}

TEST_F(View, AnEventTellsItsArgumentsAndWhereItLeads) {
  const int64_t host = Track("main"), device = Track("TPU:0", TrackKind::kDevice);
  ASSERT_TRUE(store_.Begin().ok());
  EventWriter writer(store_);
  ASSERT_TRUE(
      writer
          .Add(host,
               {.ts_ns = 0, .dur_ns = 5, .name = Value(store_.Intern("launch")), .flow_out = 9})
          .ok());
  writer.Arg(Value(store_.Intern("bytes")), int64_t{-3});
  writer.Arg(Value(store_.Intern("text")), Text{Value(store_.Intern("<b>\n"))});
  ASSERT_TRUE(
      writer
          .Add(device, {.ts_ns = 7, .dur_ns = 5, .name = Value(store_.Intern("run")), .flow_in = 9})
          .ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_TRUE(store_.Commit().ok());
  const ViewLanes lanes = Lanes();
  const json found = json::parse(Value(SearchJson(store_, lanes, {.text = "launch"})));
  const int64_t id = found["event"]["id"];
  const json event = json::parse(Value(EventJson(store_, lanes, id)));
  EXPECT_EQ(event["arguments"], json::parse(R"([["bytes","-3","int"],["text","<b>\n","string"]])"));
  ASSERT_EQ(event["flows"].size(), 1u);
  EXPECT_EQ(event["flows"][0]["direction"], "out");
  EXPECT_EQ(event["flows"][0]["event"]["name"], "run");
  EXPECT_EQ(event["totals"]["count"], 1);
  EXPECT_TRUE(absl::IsNotFound(EventJson(store_, lanes, 12345).status()));

  const DecodedArguments arguments = DecodeArguments(Value(EncodeArguments(store_, lanes)).bytes);
  EXPECT_THAT(arguments.at(id), ElementsAre("bytes=-3", "text=<b>\n"));
  EXPECT_THAT(DecodeFlows(Value(EncodeFlows(store_)).bytes),
              ElementsAre(std::pair(id, event["flows"][0]["event"]["id"].get<int64_t>())));
}

TEST_F(View, LongNamesAreCutBetweenCharacters) {
  const int64_t track = Track("main");
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "ж";
  Write({{track, 0, 5, name}});
  const ViewLanes lanes = Lanes();
  const DecodedSlices slices = Slices(lanes, {.lanes = {track}, .to_ns = lanes.end_ns()});
  const std::string& shown = slices.names.begin()->second;
  EXPECT_LE(shown.size(), 256u);
  EXPECT_THAT(shown, testing::EndsWith("ж…"));
}

TEST_F(View, TimesAtTheEndsOfTheWorldDoNotBreakIt) {
  const int64_t track = Track("main");
  Write({{track, INT64_MIN, 5, "first"},
         {track, 0, INT64_MAX, "long"},
         {track, INT64_MAX, 0, "last"}});
  const ViewLanes lanes = Lanes();
  const DecodedSlices slices = Slices(lanes, {.lanes = {track}, .to_ns = lanes.end_ns()});
  int64_t count = 0;  // the events beyond the finest resolution are one
  for (const auto& row : slices.lanes[0].rows) {
    for (const auto& slice : row) count += slice.count;
  }
  EXPECT_EQ(count, 3);
  EXPECT_TRUE(TotalsByName(store_, lanes, {track}, INT64_MIN, INT64_MAX).ok());
  EXPECT_TRUE(
      EncodeSlices(
          store_, lanes,
          {.lanes = {track}, .from_ns = INT64_MIN, .to_ns = INT64_MAX, .resolution_ns = INT64_MAX})
          .ok());
}

// Regression: a finding about a device was shown with the host's threads in view.
TEST_F(View, MarksTellTheLaneThatTheyAreAbout) {
  const int64_t host = Track("main");
  const int64_t empty = Value(store_.Add(TrackRow{.process_id = 1,
                                                  .kind = TrackKind::kDeviceStream,
                                                  .name = "Steps",
                                                  .device = "TPU:0",
                                                  .sort = 8}));
  const int64_t device = Value(store_.Add(TrackRow{.process_id = 1,
                                                   .kind = TrackKind::kDeviceStream,
                                                   .name = "Ops",
                                                   .device = "TPU:0",
                                                   .sort = 9}));
  Write({{host, 0, 50, "trace"}, {device, 60, 30, "copy-done"}});
  const int64_t on_device = Value(store_.Add(ExecutionRow{.process_id = 1,
                                                          .ordinal = 0,
                                                          .enqueue_ts_ns = 10,
                                                          .ts_ns = 60,
                                                          .dur_ns = 31,
                                                          .device = "TPU:0",
                                                          .track_id = host}));
  const int64_t on_host = Value(store_.Add(
      ExecutionRow{.process_id = 1, .ordinal = 1, .enqueue_ts_ns = 20, .track_id = host}));
  const auto lane_of = [&](const Evidence& evidence) {
    Report report = Value(MakeReport(xlaprof::Run(store_), {}));
    report.findings = {Finding{.evidence = {evidence}}};
    const json marks =
        json::parse(Value(FindingsJson(xlaprof::Run(store_), Lanes(), report, {})))["marks"];
    EXPECT_EQ(marks.size(), 1u);
    return marks[0]["lane"];
  };
  EXPECT_EQ(lane_of({.table = "execution", .rows = {on_device}}), device) << "not " << empty;
  EXPECT_EQ(lane_of({.table = "execution", .rows = {on_host}}), host);
  EXPECT_EQ(lane_of({.table = "event", .rows = {2}, .ts_ns = 60, .dur_ns = 30}), device);
  EXPECT_EQ(lane_of({.table = "event", .rows = {1}, .ts_ns = 50, .dur_ns = 10}), json())
      << "what the host did meanwhile";
}

TEST_F(View, StepsTellHowLongTheirDeviceWasIdle) {
  const int64_t device = Value(store_.Add(
      TrackRow{.process_id = 1, .kind = TrackKind::kDevice, .name = "TPU:0", .device = "TPU:0"}));
  Write({{device, 110, 30, "a"}, {device, 120, 10, "in a"}, {device, 190, 20, "b"}});
  for (int64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(store_
                    .Add(StepRow{.process_id = i == 2 ? 2 : 1,
                                 .ordinal = i,
                                 .ts_ns = i == 2 ? 100 : i * 100,
                                 .dur_ns = 100})
                    .ok());
  }
  const Report report = Value(MakeReport(xlaprof::Run(store_), {}));
  const json findings = json::parse(Value(FindingsJson(xlaprof::Run(store_), Lanes(), report, {})));
  ASSERT_EQ(findings["devices"].size(), 1u);
  EXPECT_EQ(findings["devices"][0]["name"], "TPU:0");
  EXPECT_EQ(findings["devices"][0]["idle_ns"], json({nullptr, 60, nullptr, nullptr}))
      << "of three steps, and one of another process";
  EXPECT_EQ(findings["devices"][0]["steady_ns"], 400) << "with the time between steps";
  EXPECT_EQ(findings["devices"][0]["steady_idle_ns"], 350);
}

TEST_F(View, ARunKnowsTheOthersOfItsFiles) {
  ASSERT_TRUE(store_.Add(RunRow{.label = "rank-0", .selected = true}).ok());
  ASSERT_TRUE(store_.Add(RunRow{.label = "rank-1"}).ok());
  const json run = json::parse(Value(RunJson(xlaprof::Run(store_), Lanes())));
  EXPECT_THAT(run["other_runs"], ElementsAre("rank-1"));
}

TEST_F(View, ARunWithoutEventsIsAPageWithoutLanes) {
  const ViewLanes lanes = Lanes();
  EXPECT_THAT(lanes.lanes(), IsEmpty());
  const Report report = Value(MakeReport(xlaprof::Run(store_)));
  const json run = json::parse(Value(RunJson(xlaprof::Run(store_), lanes)));
  EXPECT_EQ(run["span"]["end_ns"], 0);
  EXPECT_THAT(run["steps"]["ts_ns"], IsEmpty());
  const json findings = json::parse(Value(FindingsJson(xlaprof::Run(store_), lanes, report, {})));
  EXPECT_THAT(findings["step_parts_ns"], IsEmpty());
  EXPECT_EQ(findings["reasons"].size(), findings["report"]["findings"].size());
  EXPECT_EQ(findings["quotes"].size(), findings["report"]["findings"].size());
}

}  // namespace
}  // namespace xlaprof
