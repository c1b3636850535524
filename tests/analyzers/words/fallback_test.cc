// Tests the wording of fallback findings.
#include "analyzers/fallback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Finding OfOp(const std::string& op, FallbackOpFigures figures) {
  Finding finding{.subject = {.op = op}, .count = 12};
  finding.figures = FallbackFigures(std::move(figures));
  return finding;
}

TEST(FallbackWords, NameTheCandidatesThatAreKnownAndCountTheRest) {
  FallbackOpFigures figures{.more_candidates = 12};
  for (int64_t line = 1; line <= 2; ++line)
    figures.candidates.push_back({.file = "train.py", .line = line});
  figures.candidates.push_back({.scope = "loss"});
  figures.candidates.push_back({});  // has nothing that could name it
  EXPECT_THAT(SayFallback(OfOp("aten::nonzero", figures), Framework::kUnknown).why,
              EndsWith(". Its line is one of: train.py:1 train.py:2 scope loss and 12 more."));
}

TEST(FallbackWords, NameTheCallSitesIfThereAreSeveral) {
  FallbackOpFigures figures{.call_sites = {{"a.py", 29, "fit"}}};
  EXPECT_THAT(SayFallback(OfOp("_ctc_loss", figures), Framework::kUnknown).why,
              Not(HasSubstr("called at")));
  figures.call_sites.push_back({"a.py", 55, "evaluate"});
  EXPECT_THAT(SayFallback(OfOp("_ctc_loss", figures), Framework::kUnknown).why,
              EndsWith(". It is called at a.py:29, a.py:55."));
}

// print(tensor) selects elements by a mask: users should not rewrite that with torch.where.
TEST(FallbackWords, AdviceForAPrintIsNotThatForAMask) {
  const Words called =
      SayFallback(OfOp("aten::masked_select", {.is_printed = false}), Framework::kUnknown);
  EXPECT_THAT(called.advice, HasSubstr("torch.where(mask, x, 0)"));
  const Words printed =
      SayFallback(OfOp("aten::masked_select", {.is_printed = true}), Framework::kUnknown);
  EXPECT_THAT(printed.why, HasSubstr("Torch calls it to print a tensor"));
  EXPECT_THAT(printed.advice, HasSubstr("print(x.detach().cpu())"));
  EXPECT_THAT(printed.advice, Not(HasSubstr("torch.where")));
}

TEST(FallbackWords, AdviceIsFoundByTheOpsBareName) {
  for (const char* op : {"nonzero", "aten::nonzero", "aten::nonzero.out"}) {
    EXPECT_THAT(SayFallback(OfOp(op, {}), Framework::kUnknown).advice,
                HasSubstr("torch.where(condition, a, b)"))
        << op;
  }
  EXPECT_THAT(SayFallback(OfOp("aten::frobnicate", {}), Framework::kUnknown).advice,
              HasSubstr("aten::frobnicate has no lowering in this version of torch_xla"));
}

TEST(FallbackWords, AdviceForCppNamesTheOperationsOfCpp) {
  EXPECT_THAT(SayFallback(OfOp("aten::masked_select", {}), Framework::kCpp).advice,
              HasSubstr("Keep the full shape: x * mask,"));
  EXPECT_THAT(
      SayFallback(OfOp("aten::frobnicate", {}), Framework::kCpp).advice,
      HasSubstr(
          "aten::frobnicate has no lowering. Write it with operations that have one, or move it out of the step."));
  // Advice that is the same in both languages is written once.
  for (const Framework framework : {Framework::kCpp, Framework::kUnknown})
    EXPECT_THAT(SayFallback(OfOp("aten::nms", {}), framework).advice,
                testing::StartsWith("The shape of its result depends on values. Use a padded"));
}

// Regression: a run with PT_XLA_DEBUG_LEVEL=2 was told to use it.
TEST(FallbackWords, TheLogIsOnlyAskedForWhereItHelps) {
  const auto say = [](const char* op, bool has_log) {
    return SayFallback(OfOp(op, {.has_log = has_log}), Framework::kUnknown);
  };
  EXPECT_EQ(say("aten::frobnicate", false).unseen->what, "the line");
  EXPECT_FALSE(say("aten::frobnicate", true).unseen);
  const Words of_gradient = say("aten::upsample_nearest2d_backward", false);
  EXPECT_THAT(of_gradient.advice, EndsWith("It is the gradient of aten::upsample_nearest2d."));
  EXPECT_FALSE(of_gradient.unseen);
}

TEST(FallbackWords, UnnamedCallsListWhatTheyMayBe) {
  Finding finding{.subject = {.file = "train.py", .line = 7}, .count = 20};
  finding.figures = FallbackFigures(
      UnnamedCallsFigures{.possible_ops = {"aten::frobnicate"}, .may_be_read = true});
  const Words words = SayFallback(finding, Framework::kUnknown);
  EXPECT_EQ(words.title, "ops run on the CPU, or numbers are read, 20 times");
  EXPECT_THAT(words.why, EndsWith(". It may be one of: aten::frobnicate, a read of a number."));
  EXPECT_THAT(words.evidence, testing::ElementsAre("train.py:7 = 20"));
}

}  // namespace
}  // namespace xlaprof
