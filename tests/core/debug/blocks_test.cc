// Tests that blocks, lines and sections are exactly as torch_xla 2.9 writes them.
#include "core/debug/blocks.h"

#include <gmock/gmock.h>

#include "core/debug/dump.h"
#include "core/debug/fallback_summary.h"
#include "core/debug/frames.h"
#include "core/debug/step_rules.h"
#include "core/exec/cut.h"
#include "core/metrics/metrics.h"
#include "tests/core/ir/programs.h"

namespace xlaprof::lazy::debug {
namespace {

using metrics::Arena;
using metrics::Metric;
using metrics::Unit;
using ::testing::ElementsAre;
using ::testing::StartsWith;

const std::string kDouble(80, '='), kSingle(80, '-');

BlockFacts Facts() {
  return {.cause = cause::kUserSync,
          .hash = "32202b3d2e4a5ac58e0ea2e47bf5932e",
          .inputs = 35,
          .outputs = 107,
          .frames = {"Step (/x/train.cc:40)", "Train (/x/train.cc:44)", "main (/x/a:3)"}};
}

TEST(Blocks, Compilation) {
  EXPECT_EQ(CompilationBlock(Facts(), 8),
            "\nCompilation Analysis: " + kDouble +
                "\n"
                "Compilation Analysis: Compilation Cause\n"
                "Compilation Analysis:   user torch_xla.sync\n"
                "Compilation Analysis: Graph Info: \n"
                "Compilation Analysis:   Graph Hash: 32202b3d2e4a5ac58e0ea2e47bf5932e\n"
                "Compilation Analysis:   Number of Graph Inputs: 35\n"
                "Compilation Analysis:   Number of Graph Outputs: 107\n"
                "Compilation Analysis: Python Frame Triggered Execution: \n"
                "Compilation Analysis:   Step (/x/train.cc:40)\n"
                "Compilation Analysis:   Train (/x/train.cc:44)\n"
                "Compilation Analysis:   main (/x/a:3)\n"
                "Compilation Analysis: " +
                kSingle + "\nCompilation Analysis: " + kDouble + "\n");
  EXPECT_EQ(ComputationHashLine("c74c"), "\nComputation hash: c74c\n");
}

TEST(Blocks, ExecutionWithMoreFramesThanAreAskedFor) {
  const std::string text = ExecutionBlock(Facts(), 2);
  EXPECT_THAT(text, StartsWith("\nExecution Analysis: " + kDouble +
                               "\nExecution Analysis: Execution Cause\n"));
  EXPECT_NE(text.find("Execution Analysis:   Train (/x/train.cc:44)\n"
                      "Execution Analysis:   ..........\n"
                      "Execution Analysis: " +
                      kSingle),
            std::string::npos)
      << text;
  EXPECT_EQ(ExecutionBlock(Facts(), 3).find("....."), std::string::npos);
}

TEST(Blocks, PostCompilation) {
  EXPECT_EQ(PostCompilationBlock({.argument_bytes = int64_t(3) << 29,
                                  .result_bytes = 1 << 20,
                                  .alias_bytes = 0,
                                  .temporary_bytes = 1074,
                                  .program_bytes = 1}),
            "\nPost Compilation Analysis: " + kDouble +
                "\n"
                "Post Compilation Analysis: Graph input size: 1.500000 GB\n"
                "Post Compilation Analysis: Graph output size: 0.000977 GB\n"
                "Post Compilation Analysis: Aliased Input size: 0.000000 GB\n"
                "Post Compilation Analysis: Intermediate tensor size: 0.000001 GB\n"
                "Post Compilation Analysis: Compiled program size: 0.000000 GB\n"
                "Post Compilation Analysis: " +
                kSingle + "\nPost Compilation Analysis: " + kDouble + "\n");
}

// A function that ends steps, as the runtime's do.
struct Ends {
  static std::source_location next() { return std::source_location::current(); }
};

TEST(Frames, AreTheProgramsOwn) {
  const auto here = std::source_location::current();
  const std::string own =
      fmt::format("Frames_AreTheProgramsOwn_Test::TestBody ({}:{})", here.file_name(), here.line());
  EXPECT_THAT(FrameTexts(observe::Stack{here}), ElementsAre(own));
  // Where no line tells the cause, the runtime's function that was called tells it.
  const std::source_location by = Ends::next();
  const std::string ends =
      fmt::format("xlaprof::lazy::Ends::next (core/debug/blocks_test.cc:{})", by.line());
  EXPECT_THAT(FrameTexts(Cut{.cause = cause::kLoader, .where = here, .ended_by = by}),
              ElementsAre(ends, own));
  EXPECT_THAT(FrameTexts(Cut{.cause = cause::kValueAccess, .where = here}), ElementsAre(own));
  EXPECT_EQ(CauseText(cause::kLoader), "torch_xla.sync in parallel loader at step end");
  EXPECT_EQ(CauseText(cause::kStepTraceExit),
            "torch_xla.sync when exiting a profiler StepTrace region");
  EXPECT_EQ(CauseText(cause::kValueAccess),
            "most likely user code trying to access tensor value before torch_xla.sync");
}

void Steps(int64_t n) { metrics::Counter::Of("MarkStep", Arena::kRuntime).Add(n); }
Metric& Time(const char* name) { return Metric::Of(name, Unit::kTimeNs, Arena::kRuntime); }

TEST(StepRules, JustFireAndJustDoNot) {
  clear_all();
  EXPECT_EQ(StepRuleLines(), "");
  Steps(10);
  for (int i = 0; i < 6; ++i) Time("CompileTime").Add(300e9);
  Time("ExecuteTime").Add(30e9);
  for (int i = 0; i < 5; ++i) Time("TransferFromDeviceTime").Add(1);
  // During warm-up, compiles in half of the steps are not too frequent, and a compile at the limit
  // is not too slow.
  EXPECT_EQ(StepRuleLines(), "");
  Steps(1);
  EXPECT_EQ(StepRuleLines(),
            "pt-xla-profiler: CompileTime too frequent: 6 counts during 11 steps\n");
  Time("TransferFromDeviceTime").Add(1);
  Time("CompileTime").Add(301e9);
  Time("ExecuteTime").Add(30.5e9);
  metrics::Counter::Of("aten::nonzero", Arena::kRuntime).Add();
  metrics::Counter::Of("aten::_ctc_loss", Arena::kRuntime).Add();
  metrics::Counter::Of("aten::_local_scalar_dense", Arena::kRuntime).Add();
  EXPECT_EQ(StepRuleLines(),
            "pt-xla-profiler: CompileTime too frequent: 7 counts during 11 steps\n"
            "pt-xla-profiler: TransferFromDeviceTime too frequent: 6 counts during 11 steps\n"
            "pt-xla-profiler: CompileTime too slow: longest instance took 05m01s000ms000.000us. "
            "Please open a GitHub issue with the graph dump for our team to optimize.\n"
            "pt-xla-profiler: ExecuteTime too slow: longest instance took 30s500ms000.000us. "
            "Please open a GitHub issue with the graph dump for our team to optimize.\n"
            "pt-xla-profiler: Op(s) not lowered: aten::_ctc_loss, aten::nonzero,  Please open a "
            "GitHub issue with the above op lowering requests.\n");
  clear_all();
  EXPECT_EQ(StepRuleLines(), "") << "an operation that did not run since is not named";
}

TEST(FallbackSummary, IsSortedByCount) {
  EXPECT_EQ(FallbackSummary(), "");
  AddFallback("aten::nonzero", {"f (/x/a.cc:1)"});
  for (int i = 0; i < 2; ++i)
    AddFallback("aten::_local_scalar_dense", {"Item (/x/train.cc:12)", "main (/x/train.cc:30)"});
  EXPECT_EQ(FallbackSummary(),
            kDouble +
                "\nUnlowered Op usage summary (more of these ops, lower performance)\n"
                "Note: _local_scalar_dense typically indicates CPU context access\n" +
                kSingle +
                "\nFRAME (count=2):\n"
                "Unlowered Op: \"_local_scalar_dense\"\n"
                "Python Frames:\n"
                "  Item (/x/train.cc:12)\n"
                "  main (/x/train.cc:30)\n"
                "\n"
                "FRAME (count=1):\n"
                "Unlowered Op: \"nonzero\"\n"
                "Python Frames:\n"
                "  f (/x/a.cc:1)\n"
                "\n" +
                kDouble + "\n");
}

TEST(Dump, Section) {
  ProgramBuilder builder;
  const int32_t x = builder.Parameter({DType::kF32, {4}});
  builder.program.results = {builder.Do(op::mul, {x, x})};
  builder.program.name = "IrToHlo.1";
  const std::string graph = GraphText(builder.program, "text", {});
  EXPECT_EQ(SectionBegin({"main (/x/train.cc:30)"}, std::vector<Hash>{{1, 2}, {0, 3}}, graph) +
                SectionEnd({0x55ddb8de, 9}),
            "[ScheduleSyncTensorsGraph]\n"
            "TensorsGraphInfo:\n"
            "  main (/x/train.cc:30)\n"
            "\n"
            "Root Hashes: (10000000000000002, 00000000000000003)\n"
            "\n"
            "## BEGIN_GRAPH\n"
            "IR {\n"
            "  %0 = f32[4]{0} xla::device_data(), xla_shape=f32[4]{0}\n"
            "  %1 = f32[4]{0} aten::mul(%0, %0), xla_shape=f32[4]{0}, ROOT=0\n"
            "}\n"
            "\n"
            "Graph Hash: 55ddb8de0000000000000009\n"
            "\n"
            "## END_GRAPH\n"
            "\n");
  EXPECT_THAT(GraphText(builder.program, "hlo", {}), StartsWith("HloModule IrToHlo.1"));
  EXPECT_THAT(GraphText(builder.program, "dot", {}), StartsWith("digraph G {\n"));
  EXPECT_THAT(GraphText(builder.program, "stablehlo", {}), StartsWith("module @"));
  EXPECT_EQ(HloSection(0, 42, "HloModule m"), "[HLO Graph 0 From Thread 42]\nHloModule m\n");
}

}  // namespace
}  // namespace xlaprof::lazy::debug
