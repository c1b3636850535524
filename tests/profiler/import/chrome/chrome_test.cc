#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/profiler/import/import_text.h"

namespace xlaprof {
extern const Importer chrome;
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kEvents =
    "SELECT t.name, e.name, e.ts_ns, e.dur_ns, e.depth FROM event e JOIN track t ON t.id = "
    "e.track_id ORDER BY t.sort, e.ts_ns, e.depth, e.name";
constexpr const char* kIssues =
    "SELECT code, count, first_offset FROM import_issue WHERE severity != 'info' ORDER BY code";
constexpr const char* kEventFlows =
    "SELECT o.name, i.name FROM flow f JOIN event o ON o.id = f.from_event_id JOIN event i ON i.id "
    "= f.to_event_id ORDER BY o.ts_ns, i.ts_ns";

ImportedText Read(std::string_view text) { return ImportText(chrome, text); }
ImportedText ReadEvents(const std::string& events) {
  return Read("{\"traceEvents\": [" + events + "]}");
}
std::string X(const std::string& name, const std::string& ts, const std::string& dur,
              const std::string& more = "") {
  return fmt::format(R"({{"ph":"X","name":"{}","pid":1,"tid":2,"ts":{},"dur":{}{}}})", name, ts,
                     dur, more);
}

TEST(Chrome, SniffsByItsBytes) {
  EXPECT_GT(chrome.sniff("{\"traceEvents\": ["), 50);
  EXPECT_GT(chrome.sniff("\xef\xbb\xbf [{\"ph\": \"X\", \"ts\": 1"), 50);
  EXPECT_GT(chrome.sniff("{\"schemaVersion\": 1, \"deviceProperties\": ["), 50);
  EXPECT_EQ(chrome.sniff("{\"findings\": []}"), 0);
  EXPECT_EQ(chrome.sniff("Metric: CompileTime"), 0);
  EXPECT_EQ(chrome.sniff(""), 0);
}

TEST(Chrome, ReadsAnEventWithAllItHas) {
  auto in = ReadEvents(
      R"({"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"main"}},)"
      R"({"name":"process_name","ph":"M","pid":1,"args":{"name":"train.py"}},)" +
      X("f", "10.5", "2.25",
        R"(,"cat":"mine","args":{"i":-3,"u":18446744073709551615,"d":1.5,"s":"a\"b","n":null,)"
        R"("l":[1, 2],"t":true,"nan":NaN})"));
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows(kEvents), ElementsAre("main|f|10500|2250|0"));
  EXPECT_THAT(in.Rows("SELECT pid, name FROM process"), ElementsAre("1|train.py"));
  EXPECT_THAT(in.Rows("SELECT kind, tid FROM track"), ElementsAre("host_thread|2"));
  EXPECT_THAT(in.Rows("SELECT key, value FROM arg ORDER BY key"),
              ElementsAre("cat|mine", "d|1.5", "i|-3", "l|[1, 2]", "nan|NaN", "s|a\"b", "t|true",
                          "u|18446744073709551615"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());
}

// The file is so long that a thread of its own makes the rows.
TEST(Chrome, ReadsALongFile) {
  constexpr int kEvents = 30'000;
  std::string events;
  size_t broken_at = 0;
  for (int i = 0; i < kEvents; ++i) {
    if (i == kEvents / 2) {
      broken_at = events.size() + std::string("{\"ph\":").size();
      events += "{\"ph\":},";
    }
    events +=
        X(fmt::format("f{}", i % 3), fmt::to_string(10 * i), "7.5") + (i + 1 < kEvents ? "," : "");
  }
  ASSERT_GT(events.size(), size_t(1) << 20);
  auto in = ReadEvents(events);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT name, count(*), sum(dur_ns), min(ts_ns), max(ts_ns) FROM event GROUP BY 1"),
      ElementsAre("f0|10000|75000000|0|299970000", "f1|10000|75000000|10000|299980000",
                  "f2|10000|75000000|20000|299990000"));
  EXPECT_THAT(in.Rows(kIssues),
              ElementsAre(fmt::format("invalid_json|1|{}",
                                      broken_at + std::string("{\"traceEvents\": [").size())));
}

// The importer drops what `export --format chrome` adds, and restores what the export kept of the
// store.
TEST(Chrome, OurOwnExport) {
  auto in =
      Read(R"x({"otherData":{"exporter":"xlaprof 1.0"},"traceEvents":[)x"
           R"x({"ph":"M","pid":1,"name":"process_name","args":{"name":"xlaprof"}},)x"
           R"x({"ph":"M","pid":2,"name":"process_name","args":{"name":"host (vm)"}},)x"
           R"x({"ph":"M","pid":2,"name":"process_labels","args":{"labels":"vm"}},)x"
           R"x({"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0 (vm)"}},)x"
           R"x({"ph":"M","pid":3,"name":"process_labels","args":{"labels":"vm"}},)x"
           R"x({"ph":"M","pid":3,"tid":4,"name":"thread_name","args":{"name":"XLA Ops (2)"}},)x"
           R"x({"ph":"X","pid":1,"tid":9,"ts":0,"dur":9,"cat":"xlaprof.step","name":"train 0"},)x"
           R"x({"ph":"X","pid":2,"tid":2,"ts":1,"dur":1,"cat":"execute","name":"f"},)x"
           R"x({"ph":"X","pid":2,"tid":2,"ts":3,"dur":1,"name":"g"},)x"
           R"x({"ph":"X","pid":3,"tid":4,"ts":2,"dur":1,"cat":"async_op","name":"copy"}]})x");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT t.name, t.kind, t.device, e.name, e.category FROM event e JOIN track "
              "t ON t.id = e.track_id ORDER BY e.ts_ns"),
      ElementsAre("thread 2|host_thread|-|f|execute",
                  "XLA Ops (2)|device_stream|TPU:0|copy|async_op", "thread 2|host_thread|-|g|-"));
  EXPECT_THAT(in.Rows("SELECT name FROM process"), ElementsAre("host (vm)"));
  EXPECT_THAT(in.Rows("SELECT * FROM arg"), IsEmpty());
}

// Steps, executions and copies are found again, by the names that they had in the original.
TEST(Chrome, OurOwnExportKeepsSteps) {
  const std::string head = R"x({"otherData":{"exporter":"xlaprof 1.0"},"traceEvents":[)x";
  auto in = Read(
      head +
      R"x({"ph":"M","pid":2,"name":"process_name","args":{"name":"host (vm)"}},)x"
      R"x({"ph":"X","pid":1,"tid":9,"ts":0,"dur":9,"cat":"xlaprof.step","name":"train 7"},)x"
      R"x({"ph":"X","pid":2,"tid":2,"ts":0,"dur":9,"cat":"step","name":"train","args":{"step_num":7}},)x"
      R"x({"ph":"X","pid":2,"tid":2,"ts":1,"dur":1,"cat":"transfer","name":"PjRtComputationClient::TransferToDevice","args":{"size":4}}]})x");
  EXPECT_THAT(in.Rows("SELECT number, name, ts_ns, dur_ns FROM step"),
              ElementsAre("7|train|0|9000"));
  EXPECT_THAT(in.Rows("SELECT direction, bytes FROM transfer"), ElementsAre("to_device|4"));
  in = Read(
      head +
      R"x({"ph":"X","pid":2,"tid":2,"ts":0,"dur":9,"cat":"step","name":"ProfilerStep#3","args":{"cat":"user_annotation"}}]})x");
  EXPECT_THAT(in.Rows("SELECT number, ts_ns FROM step"), ElementsAre("3|0"));
}

// Regression: two processes about which nothing is known both had empty labels, and became one.
TEST(Chrome, OurOwnExportKeepsHostsApart) {
  auto in =
      Read(R"x({"otherData":{"exporter":"xlaprof 1.0"},"traceEvents":[)x"
           R"x({"ph":"M","pid":2,"name":"process_name","args":{"name":"A"}},)x"
           R"x({"ph":"M","pid":3,"name":"process_name","args":{"name":"B"}},)x"
           R"x({"ph":"X","pid":2,"tid":2,"ts":1,"dur":1,"name":"a"},)x"
           R"x({"ph":"X","pid":3,"tid":3,"ts":1,"dur":1,"name":"b"},)x"
           R"x({"ph":"i","pid":3,"tid":3,"ts":2,"name":"[memory]","args":{"Total Allocated":7}},)x"
           R"x({"ph":"C","pid":3,"ts":2,"name":"allocated bytes","args":{"value":7}}]})x");
  EXPECT_THAT(in.Rows("SELECT p.name, e.name FROM event e JOIN track t ON t.id = track_id JOIN "
                      "process p ON p.id = t.process_id ORDER BY 1, 2"),
              ElementsAre("A|a", "B|[memory]", "B|b"));
  // The counter of allocated bytes is kept alongside the events that it was computed from.
  EXPECT_THAT(in.Rows("SELECT count(*) FROM counter_sample"), ElementsAre("1"));
}

TEST(Chrome, TimesAreExactSince1970) {
  auto in = ReadEvents(X("a", "1766000000000000.123", "0.001") + "," +
                       X("b", "\"1766000000000001.5\"", "\"2\""));
  EXPECT_THAT(in.Rows(kEvents), ElementsAre("thread 2|a|123|1|0", "thread 2|b|1500|2000|0"));
  EXPECT_THAT(in.Rows("SELECT value FROM meta WHERE key = 'base_epoch_ns'"),
              ElementsAre("1766000000000000000"));
}

TEST(Chrome, BaseTimeMayStandBehindTheEvents) {
  auto in = Read("{\"traceEvents\": [" + X("a", "5000.5", "1") +
                 "], \"baseTimeNanoseconds\": 1735632360000000000}");
  EXPECT_THAT(in.Rows(kEvents), ElementsAre("thread 2|a|500|1000|0"));
  EXPECT_THAT(in.Rows("SELECT value FROM meta WHERE key = 'base_epoch_ns'"),
              ElementsAre("1735632360005000000"));
}

// Regression: a time that was cut off at the end of the probed bytes was taken for the first one of
// the file, and all events were decades late.
TEST(Chrome, TimesAreNotReadWhereTheProbeCutsThem) {
  constexpr size_t kProbe = size_t(64) << 10;
  const std::string event = X("a", "1766000000000000.125", "1") + ",";
  for (size_t shown : {1, 9, 14, 17, 18}) {
    std::string text = "{\"traceEvents\": [" + event;
    const std::string last = X("b", "1766000000000000.125", "1");
    text += std::string(kProbe - text.size() - (last.find("1766") + shown), ' ') + last;
    for (int i = 0; i < 3000; ++i) text += "," + X("c", "1766000000000001", "1");
    auto in = Read(text + "]}");
    EXPECT_THAT(in.Rows("SELECT min(ts_ns), count(*) FROM event"), ElementsAre("125|3002"))
        << shown;
    EXPECT_THAT(in.Rows(kIssues), IsEmpty());
  }
}

TEST(Chrome, TimesSinceNobodyKnowsWhenStay) {
  auto in = ReadEvents(X("a", "5", "1"));
  EXPECT_THAT(in.Rows(kEvents), ElementsAre("thread 2|a|5000|1000|0"));
  EXPECT_THAT(in.Rows("SELECT value FROM meta WHERE key = 'base_epoch_ns'"), IsEmpty());
}

// Both ends are floored, so events that nest in picoseconds also nest in nanoseconds.
TEST(Chrome, EndsAreFlooredLikeStarts) {
  auto in = ReadEvents(X("outer", "1.0009", "1.0006") + "," + X("inner", "1.0009", "1.0005"));
  EXPECT_THAT(in.Rows(kEvents),
              ElementsAre("thread 2|outer|1000|1001|0", "thread 2|inner|1000|1001|1"));
}

TEST(Chrome, BareArraysWithAndWithoutEnd) {
  for (const char* end : {"]", "", ",", ",]", " \n"}) {
    auto in = Read("[" + X("a", "1", "1") + "," + X("b", "3", "1") + end);
    ASSERT_TRUE(in.status.ok()) << in.status;
    EXPECT_THAT(in.Rows("SELECT count(*) FROM event"), ElementsAre("2")) << end;
    EXPECT_THAT(in.Rows(kIssues), IsEmpty()) << end;
  }
  auto lines = Read(X("a", "1", "1") + "\n" + X("b", "3", "1") + "\n");
  EXPECT_THAT(lines.Rows("SELECT count(*) FROM event"), ElementsAre("2"));
}

TEST(Chrome, CutFilesKeepWhatCameBefore) {
  const std::string whole =
      "{\"traceEvents\": [" + X("a", "1", "1") + "," +
      R"({"ph": "X", "pid": 12 , "tid": 2, "ts": 3, "dur": 1, "name": "b", "id": -1.5e3,
         "args": {"n": 21 , "on": true, "list": [1, 2], "none": null}})" +
      R"(], "n": 12 , "on": true, "of": {"rank": 1}, "text": "t" })";
  const size_t second = whole.find("{\"ph\"", 20);
  const size_t first = whole.find("{\"ph\""), end = whole.rfind("],");
  for (size_t length = first + 1; length < whole.size(); ++length) {
    auto in = Read(whole.substr(0, length));
    ASSERT_TRUE(in.status.ok()) << in.status << " at " << length;
    const int expected = length >= end ? 2 : length >= second - 1 ? 1 : 0;
    ASSERT_THAT(in.Rows("SELECT count(*) FROM event"), ElementsAre(fmt::to_string(expected)))
        << length;
    ASSERT_THAT(
        in.Rows("SELECT code, first_offset FROM import_issue WHERE code <> 'empty_capture'"),
        ElementsAre(fmt::format("cut_file|{}", length)));
  }
}

TEST(Chrome, BrokenJsonIsSkippedAndToldByItsByte) {
  const std::string before = "{\"traceEvents\": [" + X("a", "1", "1") + ",";
  // This name contains an unescaped quote.
  auto in = Read(before + X("b\"c", "3", "1") + "," + X("d", "5", "1") + "]}");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT name FROM event ORDER BY ts_ns"), ElementsAre("a", "d"));
  const size_t wrong = before.size() + std::string_view(R"({"ph":"X","name":"b")").size();
  EXPECT_THAT(in.Rows(kIssues), ElementsAre(fmt::format("invalid_json|1|{}", wrong)));
  EXPECT_THAT(
      in.Rows("SELECT advice FROM import_issue"),
      ElementsAre(HasSubstr(fmt::format("{} bytes were skipped", X("b\"c", "3", "1").size() + 1))));
}

// Regression: a file whose last event is broken was reported as cut, with its end missing.
TEST(Chrome, AFileThatIsBrokenAtItsEndIsNotCut) {
  auto in = ReadEvents(X("a", "1", "1") + "," + X("b\"c", "3", "1"));
  EXPECT_THAT(in.Rows("SELECT name FROM event"), ElementsAre("a"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), ElementsAre("invalid_json"));
}

TEST(Chrome, CommentsAreSkipped) {
  auto in = Read("{\"traceEvents\": [ // c\n" + X("a", "1", "1") + ",\n/* x */" +
                 X("b", "3", "1", R"(,"args":{"o":{"ph":"X","ts":7}})") + ",]}");
  EXPECT_THAT(in.Rows("SELECT name FROM event ORDER BY 1"), ElementsAre("a", "b"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"), ElementsAre("invalid_json|2"));
}

TEST(Chrome, WhatIsNotReadOfStacksIsTold) {
  auto in = Read("{\"traceEvents\": [" + X("a", "1", "1", R"(,"sf":5)") +
                 R"(], "stackFrames": {"5": {"name": "main"}}, "samples": [{"sf": 5}]})");
  EXPECT_THAT(in.Rows("SELECT code, severity, count FROM import_issue ORDER BY 1"),
              ElementsAre("samples|info|1", "stack_frames|info|1"));
}

TEST(Chrome, RawControlCharactersAreKeptAndCounted) {
  auto in = ReadEvents(X("line\nbreak", "1", "1") + "," + X("line\nbreak", "3", "1"));
  EXPECT_THAT(in.Rows("SELECT DISTINCT name FROM event"), ElementsAre("line\nbreak"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"), ElementsAre("control_character|2"));
}

TEST(Chrome, InvalidUtf8IsReplaced) {
  auto in =
      ReadEvents(X("a\xff"
                   "b",
                   "1", "1"));
  EXPECT_THAT(in.Rows("SELECT name FROM event"), ElementsAre("a\xef\xbf\xbd"
                                                             "b"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"), ElementsAre("invalid_utf8|1"));
}

TEST(Chrome, BeginAndEndInAnyOrder) {
  auto in = ReadEvents(R"({"ph":"E","pid":1,"tid":1,"ts":10,"args":{"result":2}},)"
                       R"({"ph":"B","pid":1,"tid":1,"ts":1,"name":"outer","args":{"x":1}},)"
                       R"({"ph":"B","pid":1,"tid":1,"ts":2,"name":"inner"},)"
                       R"({"ph":"E","pid":1,"tid":1,"ts":3,"name":"inner"})");
  EXPECT_THAT(in.Rows(kEvents),
              ElementsAre("thread 1|outer|1000|9000|0", "thread 1|inner|2000|1000|1"));
  EXPECT_THAT(in.Rows("SELECT key, value FROM arg ORDER BY 1"), ElementsAre("result|2", "x|1"));
}

// The end event repeats the arguments of the begin event, and has its own time on the thread's
// clock.
TEST(Chrome, EndsRepeatTheirBeginnings) {
  auto in =
      ReadEvents(R"({"ph":"B","pid":1,"tid":1,"ts":1,"tts":100,"name":"a","args":{"x":1,"y":2}},)"
                 R"({"ph":"E","pid":1,"tid":1,"ts":5,"tts":104,"args":{"x":1,"y":3}})");
  EXPECT_THAT(in.Rows("SELECT key, value FROM arg ORDER BY 1"),
              ElementsAre("tts|100", "x|1", "y|2"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"), ElementsAre("repeated_argument|1"));
}

TEST(Chrome, UnbalancedEndsAndBeginsAreCounted) {
  auto in = ReadEvents(R"({"ph":"E","pid":1,"tid":1,"ts":0,"name":"before"},)"
                       R"({"ph":"B","pid":1,"tid":1,"ts":1,"name":"a"},)"
                       R"({"ph":"B","pid":1,"tid":1,"ts":2,"name":"b"},)"
                       R"({"ph":"E","pid":1,"tid":1,"ts":3,"name":"a"},)"
                       R"({"ph":"E","pid":1,"tid":1,"ts":4,"name":"other"})");
  EXPECT_THAT(in.Rows("SELECT name, ts_ns, dur_ns FROM event ORDER BY ts_ns"),
              ElementsAre("a|1000|2000", "b|2000|-"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue ORDER BY 1"),
              ElementsAre("end_without_begin|2", "never_ended|1"));
}

TEST(Chrome, AsynchronousOperationsOverlap) {
  auto in = ReadEvents(
      R"({"ph":"b","pid":1,"tid":1,"ts":1,"cat":"c","id":"0x1","name":"get","args":{"k":1}},)"
      R"({"ph":"b","pid":1,"tid":1,"ts":2,"cat":"c","id":"0x2","name":"get"},)"
      R"({"ph":"b","pid":1,"tid":1,"ts":3,"cat":"c","id":"0x2","name":"parse"},)"
      R"({"ph":"e","pid":1,"tid":9,"ts":4,"cat":"c","id":"0x1","name":"get"},)"
      R"({"ph":"e","pid":1,"tid":9,"ts":4,"cat":"c","id":"0x2","name":"parse"},)"
      R"({"ph":"e","pid":1,"tid":9,"ts":6,"cat":"c","id":"0x2","name":"get"},)"
      R"({"ph":"b","pid":1,"tid":1,"ts":7,"cat":"c","id2":{"local":"0x2"},"name":"own"},)"
      R"({"ph":"e","pid":2,"tid":1,"ts":8,"cat":"c","id2":{"local":"0x2"},"name":"own"})");
  EXPECT_THAT(in.Rows("SELECT t.kind, t.name, e.name, ts_ns, dur_ns FROM event e JOIN track t ON "
                      "t.id = track_id ORDER BY ts_ns"),
              ElementsAre("async|get|get|1000|3000", "async|get|get|2000|4000",
                          "async|get|parse|3000|1000", "async|own|own|7000|-"));
}

TEST(Chrome, InstantsOfAnOperationLieOnItsTrack) {
  auto in = ReadEvents(
      R"({"ph":"b","pid":1,"tid":1,"ts":1,"cat":"c","id":1,"name":"get"},)"
      R"({"ph":"n","pid":1,"tid":1,"ts":2,"cat":"c","id":1,"name":"first byte","args":{"k":1}},)"
      R"({"ph":"e","pid":1,"tid":1,"ts":4,"cat":"c","id":1,"name":"get"},)"
      R"({"ph":"n","pid":1,"tid":1,"ts":5,"cat":"c","id":2,"name":"alone"},)"
      R"({"ph":"S","pid":1,"tid":1,"ts":6,"cat":"c","id":3,"name":"old"},)"
      R"({"ph":"T","pid":1,"tid":1,"ts":7,"cat":"c","id":3,"name":"old"},)"
      R"({"ph":"F","pid":1,"tid":1,"ts":8,"cat":"c","id":3,"name":"old"})");
  EXPECT_THAT(
      in.Rows("SELECT t.kind, t.name, e.name, ts_ns, dur_ns FROM event e JOIN track t ON "
              "t.id = track_id ORDER BY ts_ns"),
      ElementsAre("async|get|get|1000|3000", "async|get|first byte|2000|0",
                  "async|alone|alone|5000|0", "async|old|old|6000|2000", "async|old|old|7000|0"));
  EXPECT_THAT(in.Rows("SELECT key, value FROM arg WHERE key = 'k'"), ElementsAre("k|1"));
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue"), IsEmpty());
}

// Regression: each end event searched all open events, and closing one moved all events after it.
TEST(Chrome, ManyOpenEventsAreMatchedInLinearTime) {
  constexpr int kCount = 100'000;
  std::string events;
  for (int i = 0; i < kCount; ++i) {
    events += fmt::format(R"({{"ph":"B","pid":1,"tid":1,"ts":{},"name":"a"}},)", i);
    events += fmt::format(R"({{"ph":"E","pid":1,"tid":1,"ts":{},"name":"b"}},)", kCount + i);
    events += fmt::format(R"({{"ph":"b","pid":2,"ts":{0},"id":1,"name":"n{0}"}},)", i);
    events += fmt::format(R"({{"ph":"e","pid":2,"ts":{},"id":1,"name":"n{}"}},)", kCount + i, i);
  }
  auto in = ReadEvents(events);
  EXPECT_THAT(in.Rows("SELECT dur_ns, count(*) FROM event GROUP BY dur_ns"),
              ElementsAre(fmt::format("-|{}", kCount), fmt::format("{}000|{}", kCount, kCount)));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue ORDER BY code"),
              ElementsAre(fmt::format("end_without_begin|{}", kCount),
                          fmt::format("never_ended|{}", kCount)));
}

TEST(Chrome, FlowsJoinTheEventsAroundTheirEnds) {
  auto in =
      ReadEvents(R"({"ph":"s","pid":1,"tid":2,"ts":1.5,"cat":"f","name":"n","id":7},)" +
                 X("outer", "1", "9") + "," + X("source", "1.2", "2") + "," +
                 R"({"ph":"t","pid":1,"tid":3,"ts":20,"cat":"f","name":"n","id":7},)"
                 R"({"ph":"X","pid":1,"tid":3,"ts":20,"dur":2,"name":"middle"},)"
                 R"({"ph":"f","pid":1,"tid":4,"ts":30,"cat":"f","name":"n","id":7},)"
                 R"({"ph":"X","pid":1,"tid":4,"ts":31,"dur":2,"name":"sink"},)"
                 R"({"ph":"f","pid":1,"tid":2,"ts":50,"cat":"f","name":"n","id":99,"bp":"e"})");
  EXPECT_THAT(in.Rows(kEventFlows), ElementsAre("source|middle", "middle|sink"));
  EXPECT_THAT(in.Rows(kIssues), IsEmpty());  // the end of a flow without an event is not damage
}

TEST(Chrome, AFlowsIdMayBeUsedAgain) {
  auto flow = [](const char* phase, int ts, const std::string& more) {
    return fmt::format(R"(,{{"ph":"{}","pid":1,"tid":2,"ts":{},"name":"n","cat":"f",{}}})", phase,
                       ts, more);
  };
  const std::string one = R"("id":7)", bound = R"("id":7,"bp":"e")";
  auto in = ReadEvents(X("a", "10", "10") + "," + X("b", "30", "10") + "," + X("c", "50", "10") +
                       "," + X("d", "70", "10") + flow("s", 11, one) + flow("f", 31, bound) +
                       flow("s", 51, one) + flow("f", 71, bound));
  EXPECT_THAT(in.Rows(kEventFlows), ElementsAre("a|b", "c|d"));
  // The ends must not match if they only come before the beginnings in the file.
  in = ReadEvents(X("a", "10", "10") + "," + X("b", "30", "10") + "," + X("c", "50", "10") +
                  flow("f", 51, bound) + flow("f", 31, bound) + flow("s", 11, one));
  EXPECT_THAT(in.Rows(kEventFlows), ElementsAre("a|b", "a|c"));
}

TEST(Chrome, FlowsOfAProcessStayInIt) {
  std::string events;
  for (int pid : {1, 2}) {
    for (const char* phase : {"s", "f"}) {
      const int ts = *phase == 's' ? pid : 10 + pid;
      events +=
          fmt::format(R"({{"ph":"X","name":"{0}{1}","pid":{1},"tid":{1},"ts":{2},"dur":1}},)"
                      R"({{"ph":"{0}","name":"n","cat":"c","pid":{1},"tid":{1},"ts":{2},"bp":"e",)"
                      R"("id2":{{"local":"0x1"}}}},)",
                      phase, pid, ts);
    }
  }
  EXPECT_THAT(ReadEvents(events).Rows(kEventFlows), ElementsAre("s1|f1", "s2|f2"));
}

TEST(Chrome, FlowsOfTheSecondVersion) {
  auto in = ReadEvents(X("a", "1", "1", R"(,"bind_id":"0xa","flow_out":true)") + "," +
                       X("b", "3", "1", R"(,"bind_id":"0xa","flow_in":true,"flow_out":true)") +
                       "," + X("c", "5", "1", R"(,"bind_id":"0xa","flow_in":true)"));
  EXPECT_THAT(in.Rows(kEventFlows), ElementsAre("a|b", "b|c"));
}

TEST(Chrome, CountersAreOneTrackASeries) {
  auto in = ReadEvents(R"({"ph":"C","pid":1,"ts":1,"name":"mem","args":{"used":3,"free":"4.5"}},)"
                       R"({"ph":"C","pid":1,"ts":2,"name":"mem","args":{"used":5}},)"
                       R"({"ph":"C","pid":1,"ts":2,"name":"q","id":3,"args":{"value":1}},)"
                       R"({"ph":"C","pid":1,"ts":2,"name":"no","args":{"text":"x"}})");
  EXPECT_THAT(
      in.Rows("SELECT t.name, ts_ns, value FROM counter_sample c JOIN track t ON t.id = "
              "track_id ORDER BY 1, 2"),
      ElementsAre("mem free|1000|4.5", "mem used|1000|3.0", "mem used|2000|5.0", "q [3]|2000|1.0"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"),
              ElementsAre("counter_without_number|1"));
}

TEST(Chrome, OddEventsAreCountedNotGuessed) {
  auto in = ReadEvents(
      R"({"ph":"X","pid":1,"tid":1,"name":"no time","dur":1},)"
      R"({"ph":"X","pid":1,"tid":1,"name":"far","ts":1e30,"dur":1},)"
      R"({"ph":"X","pid":1,"tid":1,"name":"no dur","ts":1},)"
      R"({"ph":"X","pid":1,"tid":1,"name":"negative","ts":2,"dur":-4},)"
      R"({"ph":"?","pid":1,"tid":1,"name":"phase","ts":3},)"
      R"({"pid":1,"tid":1,"name":"none","ts":3},)"
      R"({"ph":"X","pid":1,"tid":1,"name":"args","ts":5,"dur":1,"args":"text"},)"
      R"({"ph":"X","pid":1,"tid":1,"name":"twice","ts":7,"dur":1,"args":{"a":1,"a":2}})");
  EXPECT_THAT(in.Rows("SELECT name, dur_ns FROM event ORDER BY ts_ns"),
              ElementsAre("no dur|-", "negative|0", "args|1000", "twice|1000"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue ORDER BY 1"),
              ElementsAre("bad_args|1", "event_without_time|2", "missing_duration|1",
                          "negative_duration|1", "repeated_argument|1", "unknown_phase|2"));
}

// There are so many such events that their arguments fill more than one batch on the way to the
// rows.
TEST(Chrome, ArgumentsBeyondAThousandAreLeftOutAndCounted) {
  auto members = [](int from, int count) {
    std::string out;
    for (int i = 0; i < count; ++i)
      out += fmt::format("{}\"k{}\":{}", i == 0 ? "" : ",", from + i, from + i);
    return out;
  };
  std::string events;
  for (int i = 0; i < 8; ++i) {
    events += X(fmt::format("f{}", i), fmt::to_string(10 * i), "5",
                ",\"args\":{" + members(0, i % 2 == 0 ? 1024 : 1500) + "}") +
              ",";
  }
  events += R"({"ph":"B","name":"p","pid":1,"tid":3,"ts":1,"args":{)" + members(0, 800) + "}},";
  events += R"({"ph":"E","name":"p","pid":1,"tid":3,"ts":2,"args":{)" + members(800, 800) + "}},";
  events += R"({"ph":"C","name":"c","pid":1,"ts":1,"args":{)" + members(0, 1030) + "}}";
  auto in = ReadEvents(events);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(
      in.Rows("SELECT e.name, count(*), max(a.value) FROM event e JOIN arg a ON a.event_id "
              "= e.id GROUP BY 1"),
      ElementsAre("f0|1024|1023", "f1|1024|1023", "f2|1024|1023", "f3|1024|1023", "f4|1024|1023",
                  "f5|1024|1023", "f6|1024|1023", "f7|1024|1023", "p|1024|1023"));
  EXPECT_THAT(in.Rows("SELECT count(*) FROM track WHERE kind = 'counter'"), ElementsAre("1024"));
  EXPECT_THAT(in.Rows("SELECT code, count FROM import_issue"), ElementsAre("too_many_arguments|6"));
}

TEST(Chrome, PidsAndTidsMayBeTexts) {
  auto in = ReadEvents(R"({"ph":"X","pid":"Spans","tid":"Worker","ts":1,"dur":1,"name":"a"},)"
                       R"({"ph":"X","pid":"12","tid":"34","ts":2,"dur":1,"name":"b"},)"
                       R"({"ph":"X","pid":12,"tid":34,"ts":3,"dur":1,"name":"c"},)"
                       R"({"ph":"X","ts":4,"dur":1,"name":"d"})");
  EXPECT_THAT(in.Rows("SELECT p.pid, p.name, t.tid, t.name, group_concat(e.name) FROM event e JOIN "
                      "track t ON t.id = e.track_id JOIN process p ON p.id = t.process_id GROUP BY "
                      "t.id ORDER BY min(e.ts_ns)"),
              ElementsAre("-|Spans|-|Worker|a", "12|-|34|thread 34|b,c", "-|-|-|thread|d"));
}

TEST(Chrome, JsonWithoutEventsIsNoTrace) {
  auto in = Read("{\"a\": 1}");
  EXPECT_FALSE(in.status.ok());
  EXPECT_THAT(std::string(Message(in.status)), HasSubstr("traceEvents"));
  EXPECT_FALSE(Read("hello").status.ok());
  EXPECT_FALSE(Read("").status.ok());
}

TEST(Chrome, HostileNestingIsReadInLinearTime) {
  std::string nested = "{\"traceEvents\": [";
  for (int i = 0; i < 200'000; ++i) nested += "{\"a\":[";
  auto in = Read(nested);
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT code FROM import_issue WHERE severity = 'warning'"),
              Contains("cut_file"));
}

// None of the odd events ends. The reader must not read what follows up to the end of the file for
// each.
TEST(Chrome, EventsWithoutEndAmongOthersAreReadInLinearTime) {
  std::string text = "{\"traceEvents\": [";
  constexpr int kPairs = 20'000;
  for (int i = 0; i < kPairs; ++i)
    text += "{\"ph\":\"X\",\"ts\":1,\"args\":{\"l\":[[[[[[[[1]}}," + X("g", "3", "1") + ",";
  auto in = Read(text + "]}");
  ASSERT_TRUE(in.status.ok()) << in.status;
  EXPECT_THAT(in.Rows("SELECT count(*) FROM event"), ElementsAre(fmt::to_string(kPairs)));
  EXPECT_THAT(in.Rows("SELECT count FROM import_issue WHERE code = 'invalid_json'"),
              ElementsAre(fmt::to_string(kPairs)));
}

}  // namespace
}  // namespace xlaprof
