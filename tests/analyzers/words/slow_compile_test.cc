#include "analyzers/slow_compile.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

Words Say(SlowCompileFigures figures, Framework framework = Framework::kUnknown) {
  return SaySlowCompile({.count = 1, .cost_ns = 400'000'000'000, .figures = std::move(figures)},
                        framework);
}

TEST(SlowCompileWords, ACompilationIsComparedWithSteps) {
  const Words words = Say(SlowCompilation{
      .compilation = {.dur_ns = 400'000'000'000,
                      .nodes = 70,
                      .program_bytes = 1000,
                      .graph_hash = "abc",
                      .place = SourcePlace{.file = "/u/train.py", .line = 3}},
      .steps = CompileSteps{.as_long_as = 500, .paid_back = 9500, .paid_back_share = 0.05}});
  EXPECT_EQ(words.title,
            "compiling took 400 s, 70 nodes, program of 1 KB, graph abc, /u/train.py:3");
  EXPECT_EQ(words.why,
            "This is as long as 500 steady steps. It is under 5 % of the run after 9500 steps.");
  EXPECT_FALSE(words.tells_share);
}

// The C++ runtime has no cache between runs and no scan.
TEST(SlowCompileWords, TheAdviceInCppIsASmallerGraph) {
  for (const SlowCompileFigures& figures :
       {SlowCompileFigures(SlowCompilation()), SlowCompileFigures(CompileTimeSum()),
        SlowCompileFigures(SlowCompileLines())}) {
    EXPECT_EQ(Say(figures, Framework::kCpp).advice, "Make the graph smaller.");
    EXPECT_EQ(
        Say(figures).advice,
        "Keep the compilation cache between runs (torch_xla.runtime.initialize_cache in PyTorch/XLA, jax_compilation_cache_dir in JAX). Make the graph smaller (scan over repeated layers).");
  }
}

// A metric has the sum of all compile times, of which each compile gets an equal share.
TEST(SlowCompileWords, EqualSharesAreSaidToBeOne) {
  const std::string of_all = "the first compilation of each of these graphs";
  EXPECT_EQ(Say(CompilationsOfReads()).cost_note, of_all);
  EXPECT_EQ(Say(CompilationsOfReads{.shares = 1}).cost_note,
            "about, if all compiles take equally long: " + of_all +
                "; no source timed one by itself");
}

// torch_xla repeats its line at each step, with the longest compilation so far.
TEST(SlowCompileWords, LinesTellTheLeastNumberAndCost) {
  SlowCompileLines figures{.threshold_ns = 300'000'000'000,
                           .longest_ns = 940'000'000'000,
                           .shortest_ns = 320'000'000'000,
                           .lengths = 2};
  EXPECT_EQ(Say(figures).title, "at least 2 compilations took 320 s to 940 s each");
  EXPECT_EQ(
      Say(figures).cost_note,
      "at least; this is the longest one in torch_xla's own lines, which do not say how many there were");
  figures.lengths = 1;
  EXPECT_EQ(Say(figures).title, "a compilation took 940 s");
  EXPECT_EQ(Say(SlowCompileLines{.threshold_ns = 300'000'000'000}).cost_note,
            "not measured, because only torch_xla's own line mentions it");
}

CompileAlarms Alarms(AlarmKind kind, bool ended = true) {
  return {
      .kind = kind,
      .all = {{.ns = 2'000'000'000, .ended = ended, .subject = {.file = "/x/f.py", .line = 13}}},
      .ns_by_process = {{1, 2'000'000'000}},
      .ns = 2'000'000'000,
      .ended = ended};
}

TEST(SlowCompileWords, AlarmsThatHaveNotEndedTellTheLeast) {
  Finding finding{.evidence = {{.table = "compile_alarm", .rows = {1}}}};
  finding.figures = SlowCompileFigures(
      SlowCompileAlarms{.alarms = Alarms(AlarmKind::kConstantFolding, /*ended=*/false)});
  const Words words = SaySlowCompile(finding, Framework::kUnknown);
  EXPECT_EQ(words.title,
            "XLA spent over 2 s of one compilation folding constants (an instruction)");
  EXPECT_EQ(words.cost_note,
            "at least; XLA's own alarms, which report instructions of over a second");
  EXPECT_TRUE(words.advice.starts_with("Pass large arrays to the compiled function as arguments"));
  EXPECT_EQ(words.evidence, std::vector<std::string>{"over 2 s: , /x/f.py:13"});
}

// The limit of an unoptimized XLA is ten seconds, and a smaller graph would not help.
TEST(SlowCompileWords, AnUnoptimizedXlaIsReplaced) {
  const Words words = Say(SlowCompileAlarms{.alarms = Alarms(AlarmKind::kUnoptimizedCompile)});
  EXPECT_NE(words.cost_note.find("over ten seconds"), std::string::npos);
  EXPECT_TRUE(words.advice.ends_with("bazel build -c opt."));
  EXPECT_EQ(words.advice.find("graph"), std::string::npos);
}

// A graph of one operation cannot be made smaller.
TEST(SlowCompileWords, AProgramOfOneOperationIsTheMachinesMatter) {
  SlowCompileAlarms figures{.alarms = Alarms(AlarmKind::kCompile), .per_process = 1};
  EXPECT_EQ(Say(figures).why, "");
  EXPECT_NE(Say(figures).advice.find("smaller"), std::string::npos);
  figures.jax_operation = "gather";
  EXPECT_TRUE(Say(figures).why.starts_with("Its name is that of a single JAX operation, gather."));
  EXPECT_NE(Say(figures).advice.find("driver"), std::string::npos);
  EXPECT_EQ(Say(figures).advice.find("smaller"), std::string::npos);
}

TEST(SlowCompileWords, ModulesThatCompileAgainNeedAReason) {
  const Words words =
      Say(SlowCompileAlarms{.alarms = Alarms(AlarmKind::kCompile), .per_process = 2});
  EXPECT_TRUE(words.why.starts_with("Several functions share this name"));
  EXPECT_EQ(words.unseen->what, "which, and why");
}

}  // namespace
}  // namespace xlaprof
