// Trains the same network by threads, by processes and by SPMD.
#include <gmock/gmock.h>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;

double LossOf(const Ran& ran) {
  return std::strtod(ran.out.c_str() + ran.out.find("loss ") + 5, nullptr);
}

class ParallelMnist : public ProgramTest {
 protected:
  Ran Trained(const std::string& options) {
    return RunShell("XLAPROF_DEVICES=2 " XLAPROF_MNIST_PARALLEL
                    " --ranks 2 --steps 60 --batch 32 " + options,
                    folder_);
  }
};

// Returns what follows the time, which differs from run to run.
std::string Learned(const Ran& ran) { return ran.out.substr(0, ran.out.rfind(',')); }

TEST_F(ParallelMnist, ThreadsProcessesAndSpmdLearnTheSame) {
  const Ran threads = Trained("--by threads"), processes = Trained("--by processes"),
            spmd = Trained("--by spmd");
  EXPECT_EQ(threads.status, 0) << threads.out;
  EXPECT_THAT(threads.out, testing::StartsWith("2 ranks, 60 steps: loss 0."));
  EXPECT_EQ(Learned(threads), Learned(processes));
  EXPECT_EQ(spmd.status, 0) << spmd.out;
  EXPECT_NEAR(LossOf(threads), LossOf(spmd), 0.01);
}

TEST_F(ParallelMnist, AnUnevenBatchIsNamed) {
  const Ran ran = Trained("--by processes --fault uneven_batch");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("f32[32,1,28,28] on rank 0 and f32[3,1,28,28] on rank 1"));
}

}  // namespace
}  // namespace xlaprof
