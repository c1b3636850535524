// Tests that the types of results are PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/functions.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> Whole(const Tensor& tensor) {
  const HostTensor host = tensor.to_cpu();
  const auto values = host.values<int64_t>();
  return {values.begin(), values.end()};
}

TEST(Promotion, OfTwo) {
  const Tensor whole = arange(2), fraction = arange(2, DType::kF32);
  EXPECT_EQ((whole + fraction).dtype(), DType::kF32);
  EXPECT_EQ((whole * 2).dtype(), DType::kI64);
  EXPECT_EQ((whole * 2.5).dtype(), DType::kF32);
  EXPECT_EQ((whole / 2).dtype(), DType::kF32);
  EXPECT_EQ(gt(whole, 0).dtype(), DType::kBool);
  EXPECT_EQ(sum(gt(whole, 0)).dtype(), DType::kI64);
  EXPECT_EQ((fraction.to(DType::kF64) + 1).dtype(), DType::kF64);
  // A tensor of no dimensions affects the type only if it is of a higher kind.
  EXPECT_EQ((fraction.to(DType::kBF16) * full({}, 2.5)).dtype(), DType::kBF16);
  EXPECT_EQ((full({}, 2, DType::kI64) + whole.to(DType::kI32)).dtype(), DType::kI32);
  EXPECT_EQ((whole * full({}, 2.5)).dtype(), DType::kF32);
  EXPECT_EQ((gt(whole, 0) + full({}, 2, DType::kI32)).dtype(), DType::kI32);
  EXPECT_EQ((full({}, 2, DType::kI32) + full({}, 2, DType::kI64)).dtype(), DType::kI64);
}

TEST(Promotion, WithANumber) {
  const Tensor truth = gt(arange(3), 1), narrow = arange(3, DType::kI32), whole = arange(3),
               half = ones({3}, DType::kBF16), fraction = ones({3}), wide = ones({3}, DType::kF64);
  using Function = Tensor (*)(const Tensor&, Scalar, Where);
  for (Function f : {Function(add), Function(mul), Function(maximum), Function(minimum)}) {
    auto type = [&](const Tensor& x, Scalar number) {
      return f(x, number, Where::current()).dtype();
    };
    EXPECT_EQ(type(truth, true), DType::kBool);
    EXPECT_EQ(type(truth, 1), DType::kI64);
    EXPECT_EQ(type(truth, 1.0), DType::kF32);
    for (const Tensor& x : {narrow, whole}) {
      EXPECT_EQ(type(x, true), x.dtype());
      EXPECT_EQ(type(x, 3), x.dtype());
      EXPECT_EQ(type(x, 3.0), DType::kF32);
    }
    for (const Tensor& x : {half, fraction, wide}) {
      EXPECT_EQ(type(x, 3), x.dtype());
      EXPECT_EQ(type(x, 2.5), x.dtype());
    }
  }
  EXPECT_THAT(Values(truth + true), ElementsAre(1, 1, 1));
  EXPECT_EQ(remainder(narrow, 2).dtype(), DType::kI32);
  EXPECT_EQ(remainder(whole, 1.5).dtype(), DType::kF32);
  EXPECT_EQ(clamp(whole, 0, 1).dtype(), DType::kI64);
  EXPECT_EQ(clamp(whole, 0, 1.5).dtype(), DType::kF32);
  EXPECT_EQ(lt(whole, 1.5).dtype(), DType::kBool);
  EXPECT_THAT(Values(lt(whole, 1.5)), ElementsAre(1, 1, 0));
  EXPECT_THAT(Values(eq(truth, true)), ElementsAre(0, 0, 1));
}

TEST(Promotion, WithANumberOnTheLeft) {
  const Tensor whole = arange(3) + 1, fraction = whole.to(DType::kF32), truth = gt(whole, 1);
  EXPECT_THAT(Values(2.0 / fraction), ElementsAre(2, 1, 2 / 3.f));
  EXPECT_THAT(Values(6 / whole), ElementsAre(6, 3, 2));
  EXPECT_EQ((6 / whole).dtype(), DType::kF32);
  EXPECT_EQ((1 / ones({2}, DType::kF64)).dtype(), DType::kF64);
  EXPECT_THAT(Whole(5 - whole), ElementsAre(4, 3, 2));
  EXPECT_THAT(Values(0.5 + whole), ElementsAre(1.5, 2.5, 3.5));
  EXPECT_EQ((true * truth).dtype(), DType::kBool);
  EXPECT_EQ((2 * truth).dtype(), DType::kI64);
  EXPECT_THAT(Whole(pow(-2, whole)), ElementsAre(-2, 4, -8));
  EXPECT_THAT(Values(pow(0.5, whole)), ElementsAre(0.5, 0.25, 0.125));
  EXPECT_THAT(Whole(remainder(7, whole)), ElementsAre(0, 1, 1));
  EXPECT_THAT(Whole(maximum(2, whole)), ElementsAre(2, 2, 3));
}

TEST(Promotion, ComparisonsHaveTheirSigns) {
  const Tensor whole = arange(3);
  EXPECT_THAT(Values(whole < 1.5), ElementsAre(1, 1, 0));
  EXPECT_THAT(Values(1 < whole), ElementsAre(0, 0, 1));
  EXPECT_THAT(Values(1 <= whole), ElementsAre(0, 1, 1));
  EXPECT_THAT(Values(0.5 > whole), ElementsAre(1, 0, 0));
  EXPECT_THAT(Values(1 >= whole), ElementsAre(1, 1, 0));
  EXPECT_THAT(Values(whole >= whole), ElementsAre(1, 1, 1));
  EXPECT_THAT(Values(eq(1, whole)), ElementsAre(0, 1, 0));
  EXPECT_EQ((whole > whole).dtype(), DType::kBool);
}

TEST(Promotion, QuotientsAreFractions) {
  for (DType type : {DType::kBool, DType::kI32, DType::kI64, DType::kF32}) {
    EXPECT_EQ((ones({2}, type) / 2).dtype(), DType::kF32);
    EXPECT_EQ((ones({2}, type) / ones({2}, type)).dtype(), DType::kF32);
  }
  EXPECT_EQ((ones({2}, DType::kF64) / 2).dtype(), DType::kF64);
  EXPECT_EQ((ones({2}, DType::kBF16) / ones({2}, DType::kI64)).dtype(), DType::kBF16);
}

// Regression: they were fractions of 24 bits.
TEST(Promotion, WholeNumbersHaveWholePowers) {
  const Tensor three = full({1}, 3, DType::kI64);
  EXPECT_THAT(Whole(pow(three, 39)), ElementsAre(4052555153018976267));
  EXPECT_THAT(Whole(pow(three, full({1}, 39, DType::kI64))), ElementsAre(4052555153018976267));
  EXPECT_THAT(Whole(pow(neg(three), 3)), ElementsAre(-27));
  EXPECT_EQ(pow(three.to(DType::kI32), 2).dtype(), DType::kI32);
  EXPECT_EQ(pow(gt(three, 0), 2).dtype(), DType::kI64);
  EXPECT_EQ(pow(three, 0.5).dtype(), DType::kF32);
  EXPECT_THAT(MessageOf([&] { pow(three, -1); }),
              AllOf(HasSubstr("aten::pow(s64[1], -1)"), HasSubstr("promotion_test.cc:")));
  EXPECT_THAT(Values(pow(three.to(DType::kF32), -1)), ElementsAre(1 / 3.f));
}

TEST(Promotion, WholeNumbersAreTheirOwnFloor) {
  const Tensor large = full({1}, (int64_t(1) << 60) + 1, DType::kI64);
  EXPECT_THAT(Whole(floor(large)), ElementsAre((int64_t(1) << 60) + 1));
  EXPECT_EQ(floor(large.to(DType::kI32)).dtype(), DType::kI32);
  EXPECT_THAT(Values(floor(full({1}, -1.5))), ElementsAre(-2));
}

TEST(Promotion, OfReductions) {
  const Tensor truth = gt(arange(4), 1);
  EXPECT_THAT(Whole(sum(truth)), ElementsAre(2));
  EXPECT_THAT(Whole(prod(arange(4, DType::kI32) + 1)), ElementsAre(24));
  EXPECT_EQ(amax(arange(4, DType::kI32)).dtype(), DType::kI32);
  for (const Tensor& x : {truth, arange(4)}) {
    EXPECT_THAT(MessageOf([&] { mean(x); }),
                AllOf(HasSubstr("aten::mean(" + std::string(XlaName(x.dtype())) + "[4])"),
                      HasSubstr("promotion_test.cc:")));
  }
}

TEST(Promotion, TruthsAreNotSubtracted) {
  const Tensor truth = gt(arange(2), 0);
  for (auto f :
       std::vector<std::function<void()>>{[&] { truth - truth; }, [&] { truth - 1; },
                                          [&] { arange(2) - truth; }, [&] { ones({2}) - true; }}) {
    EXPECT_THAT(MessageOf(f), AllOf(HasSubstr("aten::sub("), HasSubstr("boolean values"),
                                    HasSubstr("promotion_test.cc:")));
  }
}

TEST(Promotion, OfChoices) {
  const Tensor truth = gt(arange(2), 0);
  EXPECT_EQ(where(truth, arange(2), ones({2})).dtype(), DType::kF32);
  EXPECT_EQ(where(truth, arange(2), full({}, 2.5)).dtype(), DType::kF32);
  EXPECT_EQ(where(truth, ones({2}), full({}, 2, DType::kF64)).dtype(), DType::kF32);
  EXPECT_EQ(where(truth, truth, full({}, 2, DType::kI64)).dtype(), DType::kI64);
}

// Regression: the fraction was cut off without an error.
TEST(Promotion, AWriteInPlaceTakesNoHigherKind) {
  Tensor whole = arange(4), truth = gt(whole, 1), fraction = ones({4});
  const std::pair<std::function<void()>, const char*> cases[] = {
      {[&] { whole.add_(1.5); }, "aten::add_(s64[4], 1.5): the result has type float32, which"},
      {[&] { whole.mul_(0.5); }, "aten::mul_(s64[4], 0.5): "},
      {[&] { whole.add_(fraction); }, "aten::add_(s64[4], f32[4]): "},
      {[&] { whole.add_(whole, 0.5); }, "aten::add_(s64[4], s64[4]): "},
      {[&] { whole.sub_(fraction); }, "aten::sub_(s64[4], f32[4]): "},
      {[&] { whole.div_(whole); }, "aten::div_(s64[4], s64[4]): "},
      {[&] { truth.add_(0.5); }, "which a tensor of bool cannot hold"},
      {[&] { truth.add_(1); }, "aten::add_(pred[4], 1): the result has type int64, which"},
      {[&] { truth.mul_(whole); }, "aten::mul_(pred[4], s64[4]): "},
  };
  for (const auto& [write, said] : cases)
    EXPECT_THAT(MessageOf(write), AllOf(HasSubstr(said), HasSubstr("promotion_test.cc:")));
  EXPECT_THAT(Whole(whole), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Values(truth.add_(true)), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(fraction.add_(ones({4}, DType::kF64)).mul_(whole).dtype(), DType::kF32);
  EXPECT_THAT(Whole(whole.copy_(fraction * 0.7)), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(Whole(whole.fill_(1.5)), ElementsAre(1, 1, 1, 1));
  Tensor narrow = arange(2, DType::kI32);
  EXPECT_EQ(narrow.add_(arange(2)).dtype(), DType::kI32);
}

TEST(Promotion, MaskAndTensorAreBroadcast) {
  const Tensor row = arange(4), column = arange(2).view({2, 1});
  EXPECT_THAT(Whole(masked_select(column, gt(row, 1))), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(Whole(masked_select(row, gt(column, 0))), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Whole(masked_select(row, gt(ones({2, 4}), 0))), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(
      MessageOf([&] { masked_select(row, gt(ones({3}), 0)); }),
      AllOf(HasSubstr("aten::masked_select(s64[4], pred[3])"), HasSubstr("promotion_test.cc:")));
}

}  // namespace
}  // namespace xlaprof::lazy
