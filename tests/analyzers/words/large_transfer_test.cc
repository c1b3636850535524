#include "analyzers/large_transfer.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

Words Say(LargeTransferFigures figures, Framework framework = Framework::kUnknown) {
  return SayLargeTransfer({.count = 1000, .cost_ns = 9'000'000'000, .figures = std::move(figures)},
                          framework);
}

TEST(LargeTransferWords, TheAdviceNamesWhatTheFrameworkHas) {
  const ExposedCopies read{.direction = Direction::kFromDevice};
  EXPECT_EQ(
      Say(read, Framework::kPytorchXla).advice,
      "Read less: reduce on the device first (a mean, a slice), or read only every N steps. A step closure (xm.add_step_closure) copies asynchronously.");
  EXPECT_TRUE(Say(read, Framework::kJax).advice.ends_with("starts the copy early."));
  EXPECT_EQ(Say(read, Framework::kCpp).advice,
            "Read less: reduce on the device first (a mean, a slice), or read only every N steps.");
  EXPECT_TRUE(Say(TimedUploads(), Framework::kPytorchXla)
                  .advice.ends_with("Let MpDeviceLoader upload in the background."));
  EXPECT_TRUE(Say(TimedUploads()).advice.ends_with("and convert there."));
  EXPECT_TRUE(Say(TimedUploads(), Framework::kCpp)
                  .advice.ends_with("Let DeviceLoader upload in the background."));
}

TEST(LargeTransferWords, CopiesOfAMetricAreOfAStepOrAnExecution) {
  CopiedBytes figures{.direction = Direction::kFromDevice,
                      .turn = Turn::kExecution,
                      .bytes_per_turn = 480e6,
                      .copies_per_turn = 1,
                      .metric = "InboundData",
                      .sum_bytes = 4.69e9};
  EXPECT_EQ(Say(figures).title, "480 MB from the device an execution in 1 copy");
  EXPECT_EQ(Say(figures).why, "The first upload of the weights may be all of it.");
  EXPECT_EQ(Say(figures).evidence,
            std::vector<std::string>{"InboundData: 4.69 GB in 1000 values"});
  figures.turn = Turn::kStep;
  figures.copies_per_turn = 2;
  figures.usual_is_known = true;
  EXPECT_EQ(Say(figures).title, "480 MB from the device a step in 2 copies");
  EXPECT_EQ(Say(figures).why, "");
}

TEST(LargeTransferWords, TheFirstUploadIsNamedWhereItIsCounted) {
  EXPECT_EQ(Say(SmallUploads{.has_first_upload = false}).cost_note,
            "the sum of IrValueTensorToXlaData");
  const Words young = Say(SmallUploads{.mean_ns = 9'000'000,
                                       .execute_ns = 100'000'000,
                                       .has_first_upload = true,
                                       .may_be_weights = true});
  EXPECT_EQ(young.cost_note,
            "the sum of IrValueTensorToXlaData, which includes the first upload of the weights");
  EXPECT_EQ(
      young.why,
      "They take 9 ms each on average and 9 s in all, compared with 100 ms of execution. In such a short run the weights may be all of it. Compare with a later report.");
}

}  // namespace
}  // namespace xlaprof
