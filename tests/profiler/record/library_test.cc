// The two headers of the recorder record the same, and the C functions keep their promises.
#include <gmock/gmock.h>

#include <cstring>

#include "profiler/record/categories.h"
#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "tests/profiler/record/recorded.h"
#include "tests/profiler/record/recorded_events.h"

void RecordEventsThroughLibrary();
std::string ErrorOfRecording(const char* path);
xlaprof_stats StatsOfRecording(const char* path);

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Library : public Record {
 protected:
  ~Library() override { xlaprof_switch_categories("*"); }

  // Expects what RecordEvents records while all categories are on.
  void ExpectEvents() {
    EXPECT_THAT(
        Rows("SELECT t.name || ' ' || e.name || ' ' || e.depth || ' ' || e.category FROM event e "
             "JOIN track t ON t.id = e.track_id WHERE t.kind = 'host_thread' "
             "ORDER BY t.id, e.ts_ns, e.depth"),
        ElementsAre("main train 0 step", "main forward 1 scope", "main here 2 scope",
                    "main train 0 step", "main forward 1 scope", "main here 2 scope",
                    "main named 0 scope", "main read 0 scope", "main read 0 scope",
                    "main send 1 scope", "main moment 0 scope", "worker flows in 0 scope"));
    EXPECT_THAT(
        Rows("SELECT e.name || '.' || key || '=' || value FROM arg JOIN event e ON e.id = "
             "event_id WHERE key NOT LIKE 'source%' AND name IN ('forward', 'named', "
             "'read', 'send') GROUP BY e.name, key ORDER BY e.name, key"),
        ElementsAre("forward.big=18446744073709551615", "forward.layer=7", "forward.ratio=0.5",
                    "forward.what=conv", "named.mode=3", "named.text=of its own", "read.bytes=4096",
                    "read.category=io", "send.category=net"));
    EXPECT_THAT(Rows("SELECT name || number FROM step ORDER BY id"),
                ElementsAre("train0", "train1"));
    EXPECT_THAT(Rows("SELECT t.name || ' ' || value FROM counter_sample s JOIN track t ON t.id = "
                     "s.track_id ORDER BY s.ts_ns"),
                ElementsAre("loss 0.0", "loss 0.5", "by name 2.0"));
    EXPECT_THAT(Rows("SELECT name FROM event WHERE flow_out = 42 OR flow_in = 42 ORDER BY ts_ns"),
                ElementsAre("named", "flows in"));
    EXPECT_THAT(Rows("SELECT count(*) FROM event WHERE dur_ns IS NULL"), ElementsAre("0"));
  }
  // Expects the slices, each on its track and ended on another thread than it began.
  void ExpectSlices() {
    EXPECT_THAT(Rows("SELECT t.name || ' ' || e.name FROM event e JOIN track t ON t.id = "
                     "e.track_id WHERE t.kind = 'async' ORDER BY t.name, e.ts_ns"),
                ElementsAre("queue queued", "queue runs", "queue second", "request request"));
    EXPECT_THAT(
        Rows("SELECT e.name || '.' || key || '=' || value FROM arg JOIN event e ON e.id = "
             "event_id WHERE key <> 'source_line' AND name IN ('request', 'runs', "
             "'queued') ORDER BY e.name, key"),
        ElementsAre("request.id=1", HasSubstr("request.source_file="), "request.status=done",
                    "runs.slot=2", HasSubstr("tests/profiler/record/recorded_events.h")));
    EXPECT_THAT(Rows("SELECT count(*) FROM event a, event b WHERE a.name = 'request' AND b.name = "
                     "'runs' AND a.ts_ns <= b.ts_ns AND a.ts_ns + a.dur_ns >= b.ts_ns + b.dur_ns"),
                ElementsAre("1"));
  }
};

TEST_F(Library, BothHeadersRecordTheSame) {
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  RecordEvents();
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->events, 19);
  ExpectEvents();
  ExpectSlices();

  path_ = folder_ / "linked.xlaprof";
  const xlaprof_stats linked = StatsOfRecording(path_.c_str());
  EXPECT_EQ(linked.events, 19);
  EXPECT_EQ(linked.dropped, 0);
  EXPECT_EQ(linked.threads, 2);
  EXPECT_GT(linked.committed_bytes, 0);
  ExpectEvents();
  ExpectSlices();
  EXPECT_THAT(Rows("SELECT value FROM meta WHERE key = 'run_label'"),
              ElementsAre("of the library"));
}

TEST_F(Library, NothingIsRecordedWithoutRecording) {
  RecordEvents();
  RecordEventsThroughLibrary();
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->events, 0);
}

TEST_F(Library, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(ErrorOfRecording(path_.c_str()), HasSubstr("4097"));
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_EQ(xlaprof_start((folder_ / "none" / "run.xlaprof").c_str(), nullptr), nullptr);
  EXPECT_THAT(xlaprof_error(), HasSubstr("none"));
  EXPECT_EQ(xlaprof_start(nullptr, nullptr), nullptr);
  EXPECT_STRNE(xlaprof_error(), "");
  EXPECT_EQ(xlaprof_stop(nullptr, nullptr), -1);
  EXPECT_THAT(xlaprof_error(), HasSubstr("xlaprof_start"));
}

// A program that was compiled with an earlier header passes smaller structs.
TEST_F(Library, SmallerStructsOfEarlierHeadersAreEnough) {
  xlaprof_options options{};
  options.struct_bytes = offsetof(xlaprof_options, label);
  options.label = reinterpret_cast<const char*>(1);  // not to be read
  xlaprof_recording* recording = xlaprof_start(path_.c_str(), &options);
  ASSERT_NE(recording, nullptr) << xlaprof_error();
  XLAPROF_INSTANT("one");
  xlaprof_stats stats;
  std::memset(&stats, 0x55, sizeof stats);
  stats.struct_bytes = offsetof(xlaprof_stats, dropped);
  EXPECT_EQ(xlaprof_stop(recording, &stats), 0) << xlaprof_error();
  EXPECT_STREQ(xlaprof_error(), "");
  EXPECT_EQ(stats.events, 1);
  EXPECT_EQ(stats.dropped, 0x5555555555555555);
}

void ReadAndSend() {
  XLAPROF_TRACE_IN("io", "read");
  XLAPROF_TRACE_IN("net", "send", "bytes", 1);
  XLAPROF_TRACE("always");
}

TEST_F(Library, CategoriesAreSwitchedWhileTheProgramRuns) {
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  const auto record = [](const char* switches) {
    xlaprof_switch_categories(switches);
    ReadAndSend();
    return 10 * xlaprof_category_is_on("io") + xlaprof_category_is_on("net");
  };
  EXPECT_EQ(record("-io"), 1);
  EXPECT_EQ(record("io, -net"), 10);
  EXPECT_EQ(record("-*,net"), 1);
  EXPECT_EQ(xlaprof_category_is_on("first used now"), 0);
  EXPECT_EQ(record("*"), 11);
  EXPECT_EQ(xlaprof_category_is_on("first used now"), 1);
  EXPECT_EQ(record(",-,"), 11);
  EXPECT_EQ(record("-*"), 0);
  // The C functions ask the category of their site, of whatever kind.
  XLAPROF_SITE(site, XLAPROF_SCOPE_SITE, "site", "io");
  XLAPROF_SITE(counter, XLAPROF_COUNTER_SITE, "counter", "io");
  for (const char* switches : {"io", "-io"}) {
    xlaprof_switch_categories(switches);
    xlaprof_scope scope;
    xlaprof_slice slice;
    xlaprof_step_begin(&scope, &site, 1);
    xlaprof_scope_end(&scope);
    xlaprof_scope_begin(&scope, &site);
    xlaprof_slice_begin(&slice, &site, 0);
    xlaprof_slice_arg(&slice, xlaprof_text("a", 1), XLAPROF_INT, 1);
    xlaprof_scope_arg(&scope, xlaprof_text("a", 1), XLAPROF_INT, 1);
    xlaprof_scope_flow_out(&scope, 1);
    xlaprof_scope_flow_in(&scope, 2);
    xlaprof_slice_end(&slice);
    xlaprof_slice_end(&slice);
    xlaprof_scope_end(&scope);
    xlaprof_scope_end(&scope);
    xlaprof_instant(&site);
    xlaprof_counter(&counter, 1);
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name || ' ' || count(*) FROM event GROUP BY name ORDER BY name"),
              ElementsAre("always 6", "read 3", "send 4", "site 4"));
  EXPECT_THAT(Rows("SELECT count(*) FROM counter_sample"), ElementsAre("1"));
  // A scope that is inside one whose category is off has the depth that it would have without it.
  EXPECT_THAT(
      Rows("SELECT depth || ' ' || count(*) FROM event WHERE name = 'always' GROUP BY depth"),
      ElementsAre("0 1", "1 3", "2 2"));
}

TEST_F(Library, SliceBelongsToTheRecordingInWhichItBegan) {
  AsyncTrace before("before");
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  before.End();
  AsyncTrace open("open"), kept("kept");
  kept.End();
  ASSERT_TRUE(recording->Stop().ok());
  open.End();
  path_ = folder_ / "second.xlaprof";
  recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  open.End();
  AsyncTrace other("other");
  other = AsyncTrace("assigned");  // ends the one before
  AsyncTrace& same = other;
  other = std::move(same);
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("other"));
  path_ = folder_ / "run.xlaprof";
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("kept"));
}

// A thread's ring may be gone when its slice ends.
TEST_F(Library, SliceOutlivesItsThread) {
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  AsyncTrace slice;
  std::thread([&] { slice = AsyncTrace("begun elsewhere"); }).join();
  for (int i = 0; i < 10; ++i) slice.Arg("i", i);
  slice.End();
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("begun elsewhere"));
  EXPECT_THAT(Rows("SELECT count(*) FROM arg WHERE key = 'i'"), ElementsAre("8"));
  EXPECT_THAT(Rows("SELECT code || ' ' || count FROM import_issue"),
              ElementsAre("dropped_arguments 2"));
}

TEST_F(Library, SlicesSurviveKill) {
  EXPECT_EQ(InChild([&] {
              auto recording = StartRecording(path_, {.commit_interval_ns = int64_t(1) << 60});
              if (!recording.ok()) return 1;
              {
                AsyncTrace slice("slice", Track("queue"));
                slice.Arg("number", -3);
              }
              AsyncTrace open("never ends");
              raise(SIGKILL);
              return 0;
            }),
            -SIGKILL);
  auto recovered = RecoverRecording(path_);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_EQ(recovered->events, 1);
  EXPECT_THAT(Rows("SELECT t.kind || ' ' || t.name || ' ' || e.name || ' ' || a.value FROM event e "
                   "JOIN track t ON t.id = e.track_id JOIN arg a ON a.event_id = e.id"),
              ElementsAre("async queue slice -3"));
}

// The store keeps the category of a name that is used at two places, if both have the same.
void ReadElsewhere() { XLAPROF_TRACE_IN("io", "read"); }

TEST_F(Library, CategoryOfNameAtTwoPlaces) {
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  ReadAndSend();
  ReadElsewhere();
  {
    XLAPROF_TRACE_IN("io", "send");
  }
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_THAT(
      Rows("SELECT e.name || ' ' || a.key || ' ' || a.value FROM arg a JOIN event e ON e.id "
           "= a.event_id WHERE e.name <> 'always' AND a.key <> 'bytes'"),
      ElementsAre("read category io", "read category io"));
}

}  // namespace
}  // namespace xlaprof
