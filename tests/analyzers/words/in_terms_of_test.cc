#include "analyzers/words/in_terms_of.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(InTermsOf, FrameworksThatRecordPytorchsOperationsHaveItsWords) {
  constexpr InTermsOf kWords{
      .pytorch = "torch", .pytorch_xla = "torch_xla", .jax = "jax", .otherwise = "any"};
  EXPECT_EQ(kWords.Of(Framework::kPytorch), "torch");
  EXPECT_EQ(kWords.Of(Framework::kTorchtpu), "torch");
  EXPECT_EQ(kWords.Of(Framework::kGaudi), "torch");
  EXPECT_EQ(kWords.Of(Framework::kPytorchXla), "torch_xla");
  EXPECT_EQ(kWords.Of(Framework::kJax), "jax");
  EXPECT_EQ(kWords.Of(Framework::kCpp), "any");
  EXPECT_EQ(kWords.Of(Framework::kTensorflow), "any");
  EXPECT_EQ(kWords.Of(Framework::kUnknown), "any");
}

TEST(InTermsOf, PytorchXlaWithoutWordsOfItsOwnHasThoseOfPytorchOrOfAll) {
  EXPECT_EQ((InTermsOf{.pytorch = "torch", .otherwise = "any"}.Of(Framework::kPytorchXla)),
            "torch");
  EXPECT_EQ((InTermsOf{.jax = "jax", .otherwise = "any"}.Of(Framework::kPytorchXla)), "any");
  // No words are words, too.
  EXPECT_EQ((InTermsOf{.jax = "", .otherwise = "any"}.Of(Framework::kJax)), "");
}

}  // namespace
}  // namespace xlaprof
