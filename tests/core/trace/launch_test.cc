// Ranks that are processes. launched_program.cc says what its modes do.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Launch : public ProgramTest {
 protected:
  Ran Launched(const std::string& mode) {
    return RunShell("XLAPROF_COLLECTIVE_TIMEOUT_S=2 " XLAPROF_LAUNCHED_PROGRAM " " + mode, folder_);
  }
};

TEST_F(Launch, GivesEachProcessItsRankAndTheArguments) {
  const Ran ran = Launched("");
  EXPECT_EQ(ran.status, 0);
  // The mean of 1, 2, 3 and 4, six times. Globals of the first process do not travel.
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_THAT(ran.out, HasSubstr(fmt::format("rank {} of 4: 15 0 {}\n", rank, rank)));
  EXPECT_TRUE(ran.out.ends_with("done\n")) << ran.out;
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 5);
}

TEST_F(Launch, TakesALambda) {
  const Ran ran = Launched("lambda");
  EXPECT_EQ(ran.status, 0) << ran.out;
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_THAT(ran.out, HasSubstr(fmt::format("rank {}: 0.5 0\n", rank)));
}

TEST_F(Launch, ARanksNumberMayBeOne) {
  EXPECT_EQ(Launched("numbers").out, "sum 10\nsum 10\nsum 10\nsum 10\n");
}

TEST_F(Launch, CanStayInOneProcess) {
  const Ran ran = Launched("single");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "rank 0 of 1: 1.5 7 none\ndone\n");
}

TEST_F(Launch, SaysWhichRankRaised) {
  const Ran ran = Launched("raise");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, HasSubstr("launch: rank 2 failed: the data is gone\n  at "));
}

TEST_F(Launch, SaysWhichRankWasKilled) {
  EXPECT_THAT(Launched("die").out,
              HasSubstr("launch: rank 2 failed: it was killed by signal 9 (Killed)\n  at "));
}

TEST_F(Launch, SaysWhichRankEndedTheProcess) {
  EXPECT_THAT(Launched("exit").out,
              HasSubstr("launch: rank 2 failed: it ended before its function returned\n  at "));
}

TEST_F(Launch, SaysWhichRankMadeFewerSteps) {
  EXPECT_THAT(Launched("fewer").out,
              AllOf(HasSubstr("launch: rank 2 ended after 3 steps, but rank "),
                    HasSubstr(" waits for it after 3 steps, at xla::all_reduce of f32[4] to f32[4] in graph SyncTensorsGraph.")));
}

TEST_F(Launch, SaysWhichRanksRunDifferentGraphs) {
  EXPECT_THAT(Launched("uneven").out,
              AllOf(HasSubstr("launch: the ranks run different graphs: rank 0 is at xla::all_reduce of f32[4] to f32[4] in graph "),
                    HasSubstr(" after 3 steps, and rank 2 is at xla::all_reduce of f32[3] to f32[3] in graph "),
                    HasSubstr(" Input 1 is f32[4] on rank 0 and f32[3] on rank 2. Give all ranks")));
}

TEST_F(Launch, EndsIfARankHangs) {
  EXPECT_THAT(Launched("hang").out, AllOf(HasSubstr(" waited for 2 s for rank 2, after 3 steps"),
                                          HasSubstr("raise XLAPROF_COLLECTIVE_TIMEOUT_S")));
}

}  // namespace
}  // namespace xlaprof
