// Tests that idle time is a finding if the host works between two lines of the user's code, although
// nothing was recorded.
#include "analyzers/device_gap.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer device_gap;

namespace {

// Makes steps of 100 ms. Line 21 starts an execution of 30 ms, and line `second_line` one of 10 ms, 50
// ms later. Nothing is recorded in between. The graphs have `nodes` nodes.
Findings RunWith(int64_t second_line, int64_t nodes, bool marks_steps = false) {
  TimedRun run;
  const int64_t host = run.HostThread(), device = run.Device();
  run.Exec(fmt::format("INSERT INTO graph (id, hash, node_count) VALUES (1, 'abc', {})", nodes));
  const auto site = [&](int64_t line) {
    return run.store().Add(SiteRow{.file = "/home/u/metrics.py", .line = line}).value();
  };
  const int64_t first_site = site(21), second_site = site(second_line);
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t t = i * 100'000;
    if (marks_steps) run.Step(host, t, 100'000);
    const auto execute = [&](int64_t at_us, int64_t dur_us, int64_t site_id) {
      run.Event(host, TextOf(Category::kExecute), "Execute", at_us, 10);
      run.Event(device, TextOf(Category::kModule), "graph", at_us, dur_us);
      EXPECT_TRUE(run.store()
                      .Add(ExecutionRow{.process_id = 1,
                                        .ordinal = 2 * i + (site_id == second_site),
                                        .graph_id = 1,
                                        .ts_ns = at_us * 1000,
                                        .dur_ns = dur_us * 1000,
                                        .device = "TPU:0",
                                        .cause = CutKind::kValueAccess,
                                        .site_id = site_id})
                      .ok());
    };
    execute(t, 30'000, first_site);
    execute(t + 80'000, 20'000, second_site);
  }
  return run.Run(device_gap);
}

TEST(WorkBetweenLines, IsAFindingAtTheFirstLine) {
  const Findings found = RunWith(47, 100);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].reason->type, ReasonType::kUserScope);
  EXPECT_EQ(found[0].subject.line, 21);
  EXPECT_EQ(found[0].cost_ns, 500'000'000);
  const auto& figures = std::any_cast<const DeviceGapFigures&>(found[0].figures);
  EXPECT_EQ(figures.work->after.line, 47);
  EXPECT_EQ(figures.work->gaps, 10);
  EXPECT_EQ(figures.work->ns, 500'000'000);
}

TEST(WorkBetweenLines, MayBeInsideAStep) {
  const Findings found = RunWith(47, 100, true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.line, 21);
}

// Tracing the graph of 101 nodes may take more than half of 50 ms.
TEST(WorkBetweenLines, IsNoneIfTracingMayTakeAsLong) {
  const Findings found = RunWith(47, 101);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kNothingRecorded);
}

TEST(WorkBetweenLines, IsNoneIfOneLineStartsAll) {
  const Findings found = RunWith(21, 100);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kNothingRecorded);
}

}  // namespace
}  // namespace xlaprof
