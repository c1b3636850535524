#include "analyzers/run/steps.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

TEST(NearestRank, TakesAValueThatIsThere) {
  std::vector<int64_t> values = {10, 20, 30, 40};
  EXPECT_EQ(NearestRank(values, 50), 20);
  EXPECT_EQ(NearestRank(values, 51), 30);
  EXPECT_EQ(NearestRank(values, 99), 40);
  EXPECT_EQ(NearestRank(values, 1), 10);
  EXPECT_EQ(NearestRank({}, 50), std::nullopt);
}

TEST(Median, IsBetweenTheMiddleTwo) {
  EXPECT_EQ(Median({10, 20, 30, 40}), 25);
  EXPECT_EQ(Median({10, 20, 70}), 20);
  EXPECT_EQ(Median({}), std::nullopt);
}

// Regression: prof.step() opens a step as the trace stops, and the median of two steps was that
// one's few microseconds.
TEST(Steps, TheStepThatTheTracesEndCutsIsNoFigure) {
  for (const bool launches : {true, false}) {
    TimedRun run;
    const int64_t host = run.HostThread();
    for (int i = 0; i < 3; ++i) {
      run.Exec(fmt::format(
          "INSERT INTO step (id, process_id, ordinal, name, ts_ns, dur_ns) VALUES ({0}, 1, {1}, "
          "'ProfilerStep#{1}', {1}000000, {2})",
          i + 1, i, i == 2 ? 50'000 : 900'000));
      if (launches && i < 2)
        run.Event(host, TextOf(Category::kExecute), "cudaLaunchKernel", i * 1000 + 10, 5);
    }
    const Steps steps = Steps::Of(xlaprof::Run(run.store())).value();
    EXPECT_EQ(steps.all.size(), 3u);
    EXPECT_EQ(steps.all[2].cut, launches);  // without launches, no step counts as cut
    EXPECT_EQ(steps.steady_ns.size(), launches ? 2u : 3u);
    EXPECT_EQ(steps.SteadyWindow(1)->end_ns, launches ? 1'900'000 : 2'050'000);
  }
}

TEST(Steps, WarmUpIsTheLeadingStepsThatCompile) {
  TimedRun run;
  int64_t host = run.HostThread();
  for (int i = 0; i < 10; ++i) run.Step(host, i * 100, i < 2 ? 90 : 50);
  // The second step compiles according to times, the first and the sixth according to step ids.
  run.Exec(
      "INSERT INTO compile (process_id, ordinal, step_id, inferred) VALUES (1, 0, 1, 0), (1, 2, 6, "
      "0)");
  run.Exec(
      "INSERT INTO compile (process_id, ordinal, ts_ns, dur_ns, inferred) VALUES (1, 1, 110000, "
      "10, 0)");
  Steps steps = Steps::Of(xlaprof::Run(run.store())).value();
  EXPECT_EQ(steps.warm_up, 2);
  EXPECT_TRUE(steps.all[5].compiles);
  EXPECT_FALSE(steps.all[5].warm_up);
  EXPECT_EQ(steps.steady_ns.size(), 8u);
  auto window = steps.SteadyWindow(1);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->begin_ns, 200'000);
  EXPECT_EQ(window->end_ns, 950'000);
}

TEST(Steps, AProgramThatAlwaysCompilesIsNotAlwaysWarmingUp) {
  TimedRun run;
  int64_t host = run.HostThread();
  for (int i = 0; i < 12; ++i) {
    int64_t id = run.Step(host, i * 100, 90);
    run.Exec(fmt::format(
        "INSERT INTO compile (process_id, ordinal, step_id, inferred) VALUES (1, {}, {}, 0)", i,
        id));
  }
  EXPECT_EQ(Steps::Of(xlaprof::Run(run.store())).value().warm_up, 3);
}

TEST(Steps, WithoutAClockStepsCountButHaveNoWindow) {
  TimedRun run;
  for (int i = 0; i < 4; ++i) run.UntimedStep();
  Steps steps = Steps::Of(xlaprof::Run(run.store())).value();
  EXPECT_EQ(steps.all.size(), 4u);
  EXPECT_EQ(steps.timed, 0);
  EXPECT_FALSE(steps.SteadyWindow(1));
}

}  // namespace
}  // namespace xlaprof
