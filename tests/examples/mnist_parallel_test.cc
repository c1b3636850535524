// Trains the same network by threads, by processes and by SPMD.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

using nlohmann::json;
using testing::HasSubstr;

double LossOf(const Ran& ran) {
  return std::strtod(ran.out.c_str() + ran.out.find("loss ") + 5, nullptr);
}

class ParallelMnist : public ProgramTest {
 protected:
  Ran Trained(const std::string& options) {
    return RunShell(
        "XLAPROF_DEVICES=2 " XLAPROF_MNIST_PARALLEL " --ranks 2 --steps 60 --batch 32 " + options,
        folder_);
  }
  Ran Recorded(const std::string& options) {
    return RunShell("XLAPROF_RECORD=run.xlaprof XLAPROF_DEVICES=2 " XLAPROF_MNIST_PARALLEL
                    " --ranks 2 --steps 60 --batch 32 " +
                        options,
                    folder_);
  }
  // Returns the finding of the recording with this reason, or null.
  json Find(const std::string& reason, const std::string& recording = "run.xlaprof") {
    const Ran ran = Run("report " + recording + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.out;
    const json report = json::parse(ran.out);
    for (const json& finding : report["findings"]) {
      if (finding["reason"]["type"] == reason) return finding;
    }
    ADD_FAILURE() << "found no " << reason;
    return {};
  }
};

// Returns the number of the program's line that has `text`; 0 if none has.
int64_t LineOfProgram(std::string_view text) {
  std::ifstream file(XLAPROF_SOURCE_DIR "/examples/mnist_parallel/main.cc");
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  return 0;
}

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

// The process that only starts the ranks is none of the job's.
TEST_F(ParallelMnist, ARankWithAnotherBatchIsFoundInTheRecordings) {
  std::filesystem::create_directory(folder_ / "job");
  const Ran ran = RunShell("XLAPROF_RECORD=job/ " XLAPROF_MNIST_PARALLEL
                           " --by processes --ranks 2 --steps 60 --batch 32 --fault uneven_batch",
                           folder_);
  EXPECT_EQ(ran.status, 1);
  const json finding = Find("different_graphs", "job");
  EXPECT_EQ(finding["kind"], "different_ranks");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["reason"]["before"], "f32[32,1,28,28]");
  EXPECT_EQ(finding["reason"]["after"], "f32[3,1,28,28]");
  EXPECT_THAT(Run("report job").out,
              HasSubstr("2 processes; choose one with --process: 2 rank 0 "));
}

// Each epoch has a batch for one of the two devices left.
TEST_F(ParallelMnist, DroppedBatchesAreFoundAtTheLineOfTheLoader) {
  ASSERT_EQ(Recorded("--by threads --fault dropped_batches").status, 0);
  const json finding = Find("last_batches");
  EXPECT_EQ(finding["severity"], "warning");
  EXPECT_EQ(finding["count"], 30);
  EXPECT_EQ(finding["subject"]["line"], LineOfProgram("parallel(train,"));
}

TEST_F(ParallelMnist, AnEpochWithoutAStepIsFound) {
  ASSERT_EQ(Recorded("--by threads --fault empty_epoch").status, 0);
  EXPECT_EQ(Find("empty_epoch")["severity"], "warning");
}

}  // namespace
}  // namespace xlaprof
