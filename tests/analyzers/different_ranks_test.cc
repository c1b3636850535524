#include "analyzers/different_ranks.h"

#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer different_ranks;

namespace {

// Four ranks of a job, in processes 1 to 4. Graph 1 is that of most, and graphs 2 and 3 are others.
class DifferentRanks : public testing::Test {
 protected:
  DifferentRanks() {
    run_.Exec("UPDATE process SET rank = 0 WHERE id = 1");
    for (int process = 2; process <= 4; ++process)
      run_.Exec(
          fmt::format("INSERT INTO process (id, run_id, source_id, segment, rank) VALUES ({}, "
                      "1, 1, 0, {})",
                      process, process - 1));
    for (int process = 1; process <= 4; ++process)
      run_.Exec(
          fmt::format("INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES "
                      "({0}, 'r{0}', '{0}', 1, 'tsc')",
                      process));
    for (int graph = 1; graph <= 3; ++graph)
      run_.Exec(fmt::format(
          "INSERT INTO graph (id, hash, printed_as, node_count) VALUES ({0}, 'h{0}', 'ir_text', 2);"
          "INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes) VALUES "
          "({0}, 0, 'xla::device_data', 'f32[{0},8]{{1,0}}', '', ''), "
          "({0}, 1, 'xla::all_reduce', 'f32[{0},8]{{1,0}}', '0', 'ranks=4, groups=()')",
          graph));
  }
  void Execute(int process, int graph, const std::string& device = "CPU:0") {
    run_.Exec(
        fmt::format("INSERT INTO execution (process_id, ordinal, cause, graph_id, device) "
                    "VALUES ({}, {}, 'user_sync', {}, '{}')",
                    process, ordinal_++, graph, device));
  }
  static const DifferentRanksFigures& FiguresOf(const Finding& finding) {
    return std::any_cast<const DifferentRanksFigures&>(finding.figures);
  }

  TimedRun run_;
  int ordinal_ = 0;
};

TEST_F(DifferentRanks, AreNamedAtTheFirstExecutionThatDiffers) {
  for (int process = 1; process <= 4; ++process) Execute(process, 1);
  for (int process = 1; process <= 4; ++process)
    Execute(process, process == 1 || process == 3 ? 2 : 1);
  for (int process = 1; process <= 4; ++process) Execute(process, 3);
  Execute(2, 1);
  const Findings found = run_.Run(different_ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::kError);
  EXPECT_EQ(found[0].reason->type, ReasonType::kDifferentGraphs);
  EXPECT_EQ(found[0].count, 2) << "of equally many, those of rank 0 are usual";
  EXPECT_EQ(FiguresOf(found[0]).equal, 1);
  EXPECT_EQ(FiguresOf(found[0]).usual.rank, 0);
  EXPECT_EQ(FiguresOf(found[0]).other.rank, 1);
  ASSERT_TRUE(FiguresOf(found[0]).difference);
  EXPECT_TRUE(FiguresOf(found[0]).difference->is_input);
  EXPECT_EQ(FiguresOf(found[0]).difference->before, "f32[2,8]");
  EXPECT_EQ(FiguresOf(found[0]).difference->after, "f32[1,8]");
  EXPECT_EQ(found[0].evidence.size(), 2u);
}

TEST_F(DifferentRanks, MayBeDevicesOfAProcess) {
  for (const char* device : {"CPU:0", "CPU:1", "CPU:2"}) Execute(1, 1, device);
  for (const char* device : {"CPU:0", "CPU:2"}) Execute(1, 1, device);
  Execute(1, 3, "CPU:1");
  const Findings found = run_.Run(different_ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(FiguresOf(found[0]).other.device, "CPU:1");
}

TEST_F(DifferentRanks, EndTogetherIfAllIsWell) {
  for (int process = 1; process <= 4; ++process) Execute(process, 1), Execute(process, 2);
  EXPECT_TRUE(run_.Run(different_ranks).empty());
  Execute(3, 1);
  const Findings found = run_.Run(different_ranks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason->type, ReasonType::kDifferentLengths);
  EXPECT_EQ(found[0].count, 3);
  EXPECT_EQ(FiguresOf(found[0]).equal, 2);
  EXPECT_EQ(FiguresOf(found[0]).usual_length, 3);
}

TEST_F(DifferentRanks, AreOfOneJob) {
  // An earlier job in the same directory recorded rank 0, too.
  for (int process = 1; process <= 4; ++process) Execute(process, process == 4 ? 2 : 1);
  run_.Exec("UPDATE process SET rank = 0 WHERE id = 4");
  EXPECT_TRUE(run_.Run(different_ranks).empty());
  // Nothing joins processes that do not know their ranks.
  run_.Exec("UPDATE process SET rank = NULL");
  EXPECT_TRUE(run_.Run(different_ranks).empty());
  Execute(2, 1, "CPU:1"), Execute(2, 3, "CPU:1");
  const Findings found = run_.Run(different_ranks);
  ASSERT_EQ(found.size(), 1u) << "of the threads of process 2";
  EXPECT_EQ(FiguresOf(found[0]).usual.device, "CPU:1");
  EXPECT_EQ(FiguresOf(found[0]).other.device, "CPU:0");
}

}  // namespace
}  // namespace xlaprof
