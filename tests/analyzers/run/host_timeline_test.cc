#include "analyzers/run/host_timeline.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

class HostActivity : public testing::Test {
 protected:
  // Returns the microseconds of each activity, as "tracing forward 12; ...", longest first.
  std::string During(int64_t from_us, int64_t to_us) {
    Store& store = run_.store();
    Interval all{from_us * 1000, to_us * 1000};
    auto host = HostTimeline::Of(xlaprof::Run(store), 1).value();
    HostTimeline::Walk walk(host);
    std::string out;
    for (const ActivityShare& share : walk.During(all)) {
      out += fmt::format("{}{}/{} {}", out.empty() ? "" : "; ", DoingText(share.activity.doing),
                         store.Text(share.activity.scope), share.ns / 1000);
    }
    return out;
  }
  TimedRun run_;
};

TEST_F(HostActivity, InnermostOpenEventCounts) {
  int64_t host = run_.HostThread();
  run_.Step(host, 0, 100);
  run_.Event(host, TextOf(Category::kScope), "forward", 10, 40);
  run_.Event(host, TextOf(Category::kTracing), "SyncTensorsGraph", 20, 20);
  run_.Event(host, TextOf(Category::kHost), "RunPostOrder", 25, 5);  // part of tracing
  run_.Event(host, TextOf(Category::kCompile), "Compile", 32, 4);
  run_.Event(host, TextOf(Category::kTracing), "lowering", 33, 2);  // part of the compilation
  run_.Event(host, TextOf(Category::kHost), "Wait", 60, 10);
  EXPECT_EQ(During(0, 100),
            "user code/train 50; user code/forward 20; tracing/forward 16; runtime/train 10; "
            "compilation/forward 4");
}

TEST_F(HostActivity, ALoadersThreadCountsBetweenStepsOnly) {
  int64_t host = run_.HostThread(), loader = run_.HostThread("loader");
  run_.Step(host, 0, 50);
  run_.Step(host, 80, 20);
  run_.Event(loader, TextOf(Category::kInput), "cpu_loader.next", 30, 45);
  EXPECT_EQ(During(0, 100), "user code/train 70; waiting for data/ 25; nothing recorded/ 5");
}

TEST_F(HostActivity, CompilingElsewhereExplainsAnIdleThread) {
  int64_t host = run_.HostThread(), pool = run_.HostThread("pool");
  run_.Event(host, TextOf(Category::kTracing), "trace", 0, 10);
  run_.Event(host, TextOf(Category::kTracing), "trace", 90, 10);
  run_.Event(pool, TextOf(Category::kCompile), "Compile", 5, 60);
  EXPECT_EQ(During(0, 100), "compilation/ 55; nothing recorded/ 25; tracing/ 20");
}

TEST_F(HostActivity, EventsThatOverlapWithoutNestingCountOnce) {
  int64_t host = run_.HostThread();
  run_.Event(host, TextOf(Category::kScope), "a", 0, 30);
  run_.Event(host, TextOf(Category::kScope), "b", 20, 30);
  EXPECT_EQ(During(0, 60), "user code/b 30; user code/a 20; nothing recorded/ 10");
}

TEST_F(HostActivity, NoHostThreads) {
  run_.Event(run_.Device(), TextOf(Category::kModule), "f", 0, 10);
  EXPECT_EQ(During(0, 10), "nothing recorded/ 10");
}

}  // namespace
}  // namespace xlaprof
