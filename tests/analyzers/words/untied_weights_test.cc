// Tests the wording of untied_weights findings.
#include "analyzers/untied_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using ::testing::StartsWith;

TEST(UntiedWeightsWords, CountTheCopiesAndTheirMemory) {
  Finding finding{.count = 2};
  finding.figures = UntiedWeightsFigures{
      .names = "encoder.weight, decoder.weight", .bytes = 4000, .device = "CPU:0"};
  Words words = SayUntiedWeights(finding, Framework::kUnknown);
  EXPECT_EQ(
      words.title,
      "encoder.weight, decoder.weight were one tensor and are 2 tensors since the move to CPU:0");
  EXPECT_THAT(words.cost_note,
              StartsWith("not measured in time; it takes 4 KB more memory on CPU:0,"));
  finding.count = 3;
  finding.figures = UntiedWeightsFigures{.names = "a, b, c", .bytes = 1000, .device = {}};
  words = SayUntiedWeights(finding, Framework::kUnknown);
  EXPECT_EQ(words.title, "a, b, c were one tensor and are 3 tensors since the move to the device");
  EXPECT_THAT(words.cost_note,
              StartsWith("not measured in time; it takes 2 KB more memory on the device,"));
}

}  // namespace
}  // namespace xlaprof
