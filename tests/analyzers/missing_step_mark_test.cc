// Tests that reads of which each evaluates an unrolled loop lack a step mark.
#include "analyzers/missing_step_mark.h"

#include "tests/analyzers/recompile_run.h"

namespace xlaprof {

extern const Analyzer missing_step_mark;

namespace {

// Returns the graph of a request that multiplies with two weights in each of its eleven rounds.
TestNodes Request(int64_t seeds) {
  TestNodes nodes{{.op = "xla::device_data", .shape = "f32[8,32]"}};
  int last = 0;
  for (const char* shape : {"f32[64,32]", "f32[32,64]"})
    nodes.push_back({.op = "xla::device_data", .shape = shape});
  for (int64_t i = 0; i < seeds; ++i) nodes.push_back({.op = "prim::Constant", .shape = "s64[]"});
  for (int turn = 0; turn < 11; ++turn) {
    for (const int weight : {1, 2}) {
      const std::string shape = weight == 1 ? "f32[32,64]" : "f32[64,32]";
      nodes.push_back(
          {.op = "aten::permute", .shape = shape, .operands = fmt::format("{}", weight)});
      nodes.push_back({.op = "aten::mm",
                       .shape = weight == 1 ? "f32[8,64]" : "f32[8,32]",
                       .operands = fmt::format("{},{}", last, nodes.size() - 1),
                       .location = fmt::format("forward@linear.py:{}", 134 + weight)});
      last = int(nodes.size()) - 1;
    }
  }
  nodes.back().root = 0;
  return nodes;
}

Findings FindIn(bool graphs_differ) {
  RecompileRun run;
  const How how{.cause = CutKind::kValueAccess, .line = 26};
  int64_t graph = 0;
  for (int i = 0; i < 3; ++i) {
    if (i == 0 || graphs_differ) graph = run.Graph(fmt::format("h{}", i), Request(1 + i));
    run.Execute(graph, how);
  }
  absl::StatusOr<Findings> findings = Analyze(xlaprof::Run(run.store()), missing_step_mark);
  EXPECT_TRUE(findings.ok());
  return *findings;
}

TEST(MissingStepMark, RoundsOfAnUnrolledLoopAreSteps) {
  const Findings found = FindIn(true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kWarning);
  EXPECT_EQ(found[0].subject.line, 26);
}

TEST(MissingStepMark, OneGraphThatServesAllReadsLacksNone) {
  const Findings found = FindIn(false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
}

}  // namespace
}  // namespace xlaprof
