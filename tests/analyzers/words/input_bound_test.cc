#include "analyzers/input_bound.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

Words Say(DataLoading loading, Framework framework,
          WaitPattern pattern = WaitPattern::kMostlyOneWait) {
  return SayInputBound({.count = 1,
                        .cost_ns = 2'000'000,
                        .reason = Reason{.type = ReasonType::kHigh},
                        .figures = InputBoundFigures{.share = 0.2,
                                                     .steps = 10,
                                                     .pattern = pattern,
                                                     .longest_ns = 1'900'000,
                                                     .last_wait = 4,
                                                     .loading = loading}},
                       framework);
}

TEST(InputBoundWords, AStepsShareOfTheWait) {
  const Words words = Say(DataLoading::kUnknown, Framework::kUnknown);
  EXPECT_EQ(words.title,
            "highly input bound: 20 % of the steady time is waiting for data (200 us a step)");
  EXPECT_EQ(words.why, "One wait of 1.9 ms is most of it.");
}

TEST(InputBoundWords, WaitsThatStopped) {
  EXPECT_EQ(Say(DataLoading::kUnknown, Framework::kUnknown, WaitPattern::kStopped).why,
            "It stopped: after step 4 of 10, no step waits.");
  EXPECT_EQ(Say(DataLoading::kUnknown, Framework::kUnknown, WaitPattern::kRepeats).why, "");
}

// Users of PyTorch's DataLoader are not advised to use torch_xla's loader.
TEST(InputBoundWords, TheAdviceIsForTheLoaderThatWaits) {
  EXPECT_TRUE(Say(DataLoading::kInWorkers, Framework::kUnknown)
                  .advice.starts_with("The loader's workers are too slow"));
  EXPECT_NE(Say(DataLoading::kInStepThread, Framework::kUnknown).advice.find("num_workers=0"),
            std::string::npos);
  EXPECT_NE(Say(DataLoading::kUnknown, Framework::kPytorchXla).advice.find("MpDeviceLoader's"),
            std::string::npos);
  EXPECT_EQ(
      Say(DataLoading::kUnknown, Framework::kCpp).advice,
      "Load data earlier: use more loader workers, a deeper prefetch, or cheaper or cached preprocessing.");
}

}  // namespace
}  // namespace xlaprof
