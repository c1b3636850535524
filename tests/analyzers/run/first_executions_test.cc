#include "analyzers/recompilation.h"
#include "analyzers/run/program_executions.h"
#include "tests/analyzers/recompile_run.h"

namespace xlaprof {
namespace {

// Adds an execution of a graph.
void Execute(RecompileRun& run, int64_t graph, int64_t ts_ns, int64_t dur_ns,
             const std::string& device = "CPU:0") {
  static int64_t ordinal = 1000;
  EXPECT_TRUE(run.store()
                  .Add(ExecutionRow{.process_id = run.process(),
                                    .ordinal = ++ordinal,
                                    .graph_id = graph,
                                    .ts_ns = ts_ns,
                                    .dur_ns = dur_ns,
                                    .device = device})
                  .ok());
}

OptInt Extra(RecompileRun& run, int64_t graph, int64_t ts_ns) {
  const xlaprof::Run facts(run.store());
  return facts.Get<FirstExecutions>().value()->ExtraNs(graph, ts_ns);
}

TEST(FirstExecutions, AreComparedWithTheMedianOfTheOthers) {
  RecompileRun run;
  const int64_t graph = run.Graph("a", {});
  Execute(run, graph, 1000, 90);
  for (const int64_t dur_ns : {20, 900, 30}) Execute(run, graph, 1000 + 10 * dur_ns, dur_ns);
  EXPECT_EQ(Extra(run, graph, 500), 60);
}

TEST(FirstExecutions, OfOneExecutionNothingIsKnown) {
  RecompileRun run;
  const int64_t once = run.Graph("a", {}), never = run.Graph("b", {});
  Execute(run, once, 1000, 90);
  EXPECT_EQ(Extra(run, once, 500), std::nullopt);
  EXPECT_EQ(Extra(run, never, 500), std::nullopt);
}

TEST(FirstExecutions, FollowTheCompile) {
  RecompileRun run;
  const int64_t graph = run.Graph("a", {});
  for (const int64_t ts_ns : {1000, 2000, 3000})
    Execute(run, graph, ts_ns, ts_ns == 3000 ? 70 : 20);
  EXPECT_EQ(Extra(run, graph, 2500), 50);
  EXPECT_EQ(Extra(run, graph, 3500), std::nullopt);
}

TEST(FirstExecutions, DevicesAreComparedWithThemselves) {
  RecompileRun run;
  const int64_t graph = run.Graph("a", {});
  for (const int64_t ts_ns : {1000, 2000}) {
    Execute(run, graph, ts_ns, ts_ns == 1000 ? 50 : 20, "CPU:0");
    Execute(run, graph, ts_ns, ts_ns == 1000 ? 550 : 500, "CPU:1");
  }
  EXPECT_EQ(Extra(run, graph, 500), 40);  // the mean of 30 and 50
}

TEST(FirstExecutions, BelongToTheCostOfRecompiles) {
  RecompileRun run;
  int64_t ts_ns = 0;
  for (const int64_t batch : {64, 48, 32, 16}) {
    const int64_t graph = run.Graph("batch " + std::to_string(batch), TrainStep(batch));
    run.Step(graph, {.dur_ns = 1'000'000});
    for (const int64_t dur_ns : {700'000, 200'000, 200'000})
      Execute(run, graph, ts_ns += 10'000'000, dur_ns);
  }
  run.Exec(
      "UPDATE compile SET ts_ns = 30000000 * (SELECT count(*) FROM compile c WHERE c.id < compile.id)");
  const Finding finding = run.TheFinding();
  EXPECT_EQ(finding.count, 3);
  EXPECT_EQ(FiguresOfRecompiles(finding).cost.first_executions_ns, 3 * 500'000);
  EXPECT_EQ(finding.cost_ns, 3 * 1'500'000);
}

}  // namespace
}  // namespace xlaprof
