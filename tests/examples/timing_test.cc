// Tests the counts in each row of examples/timing; its times are for people.
#include <gmock/gmock.h>

#include <map>
#include <sstream>
#include <vector>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

constexpr int64_t kSteps = 8;

struct Row {
  std::vector<double> times_ms;
  int64_t compiles = 0, executions = 0, nodes = 0;
};

using Timing = ProgramTest;

TEST_F(Timing, CountsWhatEachWayToEndAStepCompilesAndExecutes) {
  const Ran ran = RunShell(XLAPROF_TIMING " --steps " + std::to_string(kSteps), folder_);
  ASSERT_EQ(ran.status, 0) << ran.out;
  std::istringstream lines(ran.out);
  std::map<std::string, Row> rows;
  std::string line;
  for (int heads = 0; heads < 2; ++heads) std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream numbers(line.substr(20));
    Row& row = rows[line.substr(0, line.find_last_not_of(' ', 19) + 1)];
    row.times_ms.resize(6);
    for (double& time : row.times_ms) numbers >> time;
    numbers >> row.compiles >> row.executions >> row.nodes;
    EXPECT_TRUE(numbers && numbers.eof()) << line;
    for (double time : row.times_ms) EXPECT_GE(time, 0) << line;
  }
  ASSERT_EQ(rows.size(), 7u) << ran.out;

  const int64_t nodes = rows["sync(wait)"].nodes;
  EXPECT_GT(nodes, 10);
  for (const char* way : {"sync(wait)", "mark_step()", "the loader", "unlazy()"}) {
    EXPECT_EQ(rows[way].compiles, 1) << way;
    EXPECT_EQ(rows[way].executions, kSteps) << way;
    EXPECT_EQ(rows[way].nodes, nodes) << way;
  }
  // A read adds an execution of a separate program.
  EXPECT_EQ(rows["item(), mark_step()"].compiles, 2);
  EXPECT_EQ(rows["item(), mark_step()"].executions, 2 * kSteps);
  // Without a mark the graph grows: each read is a different program, and runs everything again.
  EXPECT_EQ(rows["item() alone"].compiles, kSteps);
  EXPECT_EQ(rows["item() alone"].executions, kSteps);
  EXPECT_GT(rows["item() alone"].nodes, nodes * kSteps / 2);
  // Nothing runs before the end of the loop; then everything runs.
  EXPECT_EQ(rows["nothing"].compiles, 1);
  EXPECT_EQ(rows["nothing"].executions, 1);
  EXPECT_GT(rows["nothing"].nodes, nodes * kSteps / 2);
}

}  // namespace
}  // namespace xlaprof
