// Programs as PyTorch's users write them, in C++: operators that write in place, members, lists in
// braces, loops over loaders. The numbers are those of torch 2.9.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "core/metrics/metrics.h"
#include "core/trace/functions.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::SizeIs;

TEST(Idioms, AreThoseOfPyTorch) {
  const Tensor x = tensor({{1., 2.}, {3., 4.}}), a = ones({2}), b = zeros({2});
  Tensor z = zeros({2, 2});
  z += x;
  z += x + x;
  EXPECT_THAT(Values(z), ElementsAre(3, 6, 9, 12));
  EXPECT_THAT(Values(x.sum()), ElementsAre(10));
  EXPECT_THAT(Values(x.mean(1)), ElementsAre(1.5, 3.5));
  EXPECT_THAT(Values(x.matmul(x)), ElementsAre(7, 10, 15, 22));
  EXPECT_THAT(Values((x - 2).relu()), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(Values(x.pow(2)), ElementsAre(1, 4, 9, 16));
  EXPECT_EQ(x.reshape({4, -1}).sizes(), (Dims{4, 1}));
  EXPECT_EQ(x.sum().item<double>(), 10);
  EXPECT_THAT(Values(cat({a, b})), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(Values(stack({a, b}, 1)), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(Values(einsum("ij,ij->i", {x, x})), ElementsAre(5, 25));
  EXPECT_THAT(Values(where(gt(x, 2), x, 0.0)), ElementsAre(0, 0, 3, 4));
  EXPECT_THAT(Values(where(gt(x, 2), 0, x)), ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(Values(arange(1, 10, 4)), ElementsAre(1, 5, 9));
  EXPECT_EQ(Tensor::FromHost({1, 2, 3, 4}, {2, 2}).dtype(), DType::kI32);
  EXPECT_TRUE(x.to("cpu").device().is_host());
  unlazy({x, z});
  std::ostringstream out;
  out << tensor({1., 2.}).to("cpu");
  EXPECT_EQ(out.str(), tensor({1., 2.}).to("cpu").to_text());
}

TEST(Idioms, DimensionsMayBeGivenInBracesOrWithout) {
  const Tensor x = arange(6, DType::kF32).view({2, 3});
  EXPECT_THAT(Values(x.sum(0)), ElementsAre(3, 5, 7));
  EXPECT_THAT(Values(x.sum({0})), ElementsAre(3, 5, 7));
  EXPECT_THAT(Values(x.sum(-1, /*keepdim=*/true)), ElementsAre(3, 12));
  EXPECT_THAT(Values(x.sum({})), ElementsAre(15)) << "no dimension stands for all";
  EXPECT_THAT(Values(sum(x, 1)), ElementsAre(3, 12));
  EXPECT_THAT(Values(x.max(1).indices), ElementsAre(2, 2));
  EXPECT_THAT(Values(x.max()), ElementsAre(5));
}

// The line of the expression is in errors, and in all that is told of an operation.
TEST(Idioms, AreAtTheLineOfTheUser) {
  Tensor x = ones({2, 3});
  const std::string line = fmt::format("idioms_test.cc:{}", __LINE__ + 1);
  EXPECT_THAT(MessageOf([&] { x += ones({4}); }), HasSubstr(line));
  const std::string of_member = fmt::format("idioms_test.cc:{}", __LINE__ + 1);
  EXPECT_THAT(MessageOf([&] { x.sum(7); }), HasSubstr(of_member));
  std::ostringstream out;
  const std::string of_none = fmt::format("idioms_test.cc:{}", __LINE__ + 1);
  EXPECT_THAT(MessageOf([&] { out << Tensor(); }), HasSubstr(of_none));
}

TEST(InPlace, WritesThroughViewsAndKeepsTheGradient) {
  const Tensor leaf = ones({3}).requires_grad_();
  Tensor z = leaf * 2;
  z += leaf;
  z *= 3;
  z[0] /= 2;
  z.sum().backward();
  EXPECT_THAT(Values(z), ElementsAre(4.5, 9, 9));
  EXPECT_THAT(Values(leaf.grad()), ElementsAre(4.5, 9, 9));
  Tensor x = zeros({2, 3});
  x[1] += 1;
  x.t()[0] -= 2;
  EXPECT_THAT(Values(x), ElementsAre(-2, 0, 0, -1, 1, 1));
  const Tensor same = x;
  x -= 1;
  EXPECT_THAT(Values(same), ElementsAre(-3, -1, -1, -2, 0, 0)) << "a copy is the same tensor";
}

TEST(InPlace, RefusesWhatPyTorchRefuses) {
  Tensor leaf = ones({3}).requires_grad_();
  EXPECT_THAT(MessageOf([&] { leaf += 1; }), HasSubstr("a leaf that needs a gradient"));
  Tensor whole = tensor({1, 2});
  EXPECT_THAT(MessageOf([&] { whole /= 2; }), HasSubstr("the result has type"));
  Tensor x = ones({2});
  EXPECT_THAT(MessageOf([&] { x += ones({3, 2}); }), HasSubstr("sizes [3, 2]"));
  NoGrad no_grad;
  leaf += 1;
  EXPECT_THAT(Values(leaf), ElementsAre(2, 2, 2));
}

TEST(Item, HasTheTypeThatIsAskedFor) {
  EXPECT_EQ(tensor(2.75).item<int>(), 2);
  EXPECT_EQ(tensor(-3).item<int64_t>(), -3);
  EXPECT_EQ(full({}, INT64_MAX, DType::kI64).item<int64_t>(), INT64_MAX);
  EXPECT_EQ(full({}, INT64_MIN, DType::kI64).item<int64_t>(), INT64_MIN);
  EXPECT_TRUE(tensor(0.5).item<bool>());
  EXPECT_EQ(tensor(255).item<uint8_t>(), 255);
  EXPECT_THAT(MessageOf([] { tensor(256).item<uint8_t>(); }),
              HasSubstr("256 does not fit an unsigned integer of 1 bytes"));
  EXPECT_THAT(MessageOf([] { tensor(-1).item<uint64_t>(); }), HasSubstr("does not fit"));
  EXPECT_THAT(MessageOf([] { tensor(-129).item<int8_t>(); }), HasSubstr("does not fit"));
  EXPECT_THAT(MessageOf([] { tensor(1e30).item<int64_t>(); }), HasSubstr("does not fit"));
  EXPECT_THAT(MessageOf([] { ones({2}).item<int>(); }), HasSubstr("a tensor of 2 elements"));
}

TEST(Made, OfNumbersAndOfTheKindOfAnother) {
  EXPECT_EQ(tensor({1., 2.}).dtype(), DType::kF32);
  EXPECT_EQ(tensor({1, 2}).dtype(), DType::kI64);
  EXPECT_EQ(tensor({true, false}).dtype(), DType::kBool);
  EXPECT_EQ(tensor({{true}, {false}}).dtype(), DType::kBool);
  EXPECT_EQ(tensor({1, 2}, DType::kBF16).dtype(), DType::kBF16);
  EXPECT_EQ(tensor({{1, 2}, {3, 4}}).sizes(), (Dims{2, 2}));
  EXPECT_EQ(tensor(7).sizes(), Dims());
  EXPECT_THAT(MessageOf([] { tensor({{1, 2}, {3}}); }), HasSubstr("a row has 1 numbers"));
  const Tensor x = ones({2, 1}, DType::kF64);
  for (const Tensor& like :
       {zeros_like(x), ones_like(x), full_like(x, 3), rand_like(x), randn_like(x)}) {
    EXPECT_EQ(like.sizes(), x.sizes());
    EXPECT_EQ(like.dtype(), DType::kF64);
  }
  EXPECT_EQ(zeros_like(x, DType::kI64).dtype(), DType::kI64);
  EXPECT_THAT(Values(linspace(0, 1, 6)),
              Pointwise(FloatNear(1e-7f), std::vector<float>{0, 0.2f, 0.4f, 0.6f, 0.8f, 1}));
  EXPECT_THAT(Values(linspace(3, -2, 1)), ElementsAre(3));
  EXPECT_THAT(Values(linspace(0, 1, 0)), SizeIs(0));
  EXPECT_THAT(Values(eye(2, 3)), ElementsAre(1, 0, 0, 0, 1, 0));
  EXPECT_THAT(Values(arange(0, 1, 0.25)), ElementsAre(0, 0.25, 0.5, 0.75));
  EXPECT_EQ(arange(0, 1, 0.25).dtype(), DType::kF32);
  EXPECT_THAT(Values(arange(5, 1, -2)), ElementsAre(5, 3));
  EXPECT_THAT(Values(arange(3, 3)), SizeIs(0));
  EXPECT_THAT(MessageOf([] { arange(1, 5, -1); }), HasSubstr("the step does not lead"));
}

TEST(Made, BoundsThatChangeMakeNoOtherGraph) {
  metrics::Counter& compiles = metrics::Counter::Of("UncachedCompile", metrics::Arena::kRuntime);
  arange(2, 8).sum().item();
  const int64_t before = compiles.value();
  for (int i = 3; i < 6; ++i) EXPECT_EQ(arange(i, i + 6).sum().item<int>(), 6 * i + 15);
  EXPECT_EQ(compiles.value(), before);
}

TEST(Shapes, TrianglesAndRepetitions) {
  const Tensor x = arange(9, DType::kF32).view({3, 3});
  EXPECT_THAT(Values(triu(x, 1)), ElementsAre(0, 1, 2, 0, 0, 5, 0, 0, 0));
  EXPECT_THAT(Values(x.triu(-1)), ElementsAre(0, 1, 2, 3, 4, 5, 0, 7, 8));
  const Tensor y = tensor({{1, 2}, {3, 4}}).repeat({2, 1, 2});
  EXPECT_EQ(y.sizes(), (Dims{2, 2, 4}));
  EXPECT_THAT(Values(y), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4));
  EXPECT_THAT(Values(tensor({1, 2}).repeat({0})), SizeIs(0));
  EXPECT_THAT(MessageOf([&] { x.repeat({2}); }), HasSubstr("not a count for each dimension"));
  Tensor written = ones({1}).repeat({2});
  written[0] += 1;
  EXPECT_THAT(Values(written), ElementsAre(2, 1)) << "the elements do not share memory";
}

// Checks a result and the gradient of its weighted sum.
void ExpectInterpolated(const Interpolation& to, const std::vector<float>& values,
                        const std::vector<float>& gradient) {
  const Tensor x = Tensor::FromHost({1.f, 2.f, 4.f, 3.f, 5.f, -1.f}, {1, 1, 2, 3}).requires_grad_();
  const Tensor y = interpolate(x, to);
  EXPECT_THAT(Values(y), Pointwise(FloatNear(1e-5f), values));
  sum(y * (arange(y.numel(), DType::kF32) + 1).view(y.sizes())).backward();
  EXPECT_THAT(Values(x.grad()), Pointwise(FloatNear(1e-4f), gradient));
}

TEST(Interpolate, AsPyTorch) {
  ExpectInterpolated(
      {.scale_factor = 2, .mode = "bilinear"},
      {1,    1.25f,   1.75f,   2.5f,  3.5f,  4,     1.5f, 1.8125f, 2.4375f, 2.75f, 2.75f, 2.75f,
       2.5f, 2.9375f, 3.8125f, 3.25f, 1.25f, 0.25f, 3,    3.5f,    4.5f,    3.5f,  0.5f,  -1},
      {21.5f, 29, 36.5f, 63.5f, 71, 78.5f});
  ExpectInterpolated({.size = {3, 5}, .mode = "bilinear"},
                     {1, 1.4f, 2, 3.2f, 4, 2, 2.6f, 3.5f, 2.3f, 1.5f, 3, 3.8f, 5, 1.4f, -1},
                     {7.3f, 12.6f, 15.1f, 23.3f, 30.6f, 31.1f});
  ExpectInterpolated({.size = {1, 2}, .mode = "bilinear"}, {2.375f, 2},
                     {0.375f, 0.375f, 0.75f, 0.375f, 0.375f, 0.75f});
  ExpectInterpolated({.size = {3, 5}}, {1, 1, 2, 2, 4, 1, 1, 2, 2, 4, 3, 3, 5, 5, -1},
                     {16, 24, 15, 23, 27, 15});
  ExpectInterpolated({.scale_factor = 1.5}, {1, 1, 2, 4, 1, 1, 2, 4, 3, 3, 5, -1},
                     {14, 10, 12, 19, 11, 12});
  const Tensor x = ones({1, 1, 2, 2});
  EXPECT_THAT(MessageOf([&] {
                interpolate(x, {.size = {2, 2}, .mode = "bicubic"});
              }),
              HasSubstr("mode is \"bicubic\""));
  EXPECT_THAT(MessageOf([&] { interpolate(x, {.size = {2}}); }),
              HasSubstr("a size for each dimension after C"));
}

// A loss of [-1, 0, 0.5, 3] and [0, 0, 1, 0.25]: each element's, and the gradient of their sum.
template <class Loss>
void ExpectLoss(const Loss& loss, const std::vector<float>& losses,
                const std::vector<float>& gradient) {
  const Tensor x = tensor({-1., 0., 0.5, 3.}).requires_grad_(), target = tensor({0., 0., 1., 0.25});
  const Tensor each = loss(x, target, "none");
  EXPECT_THAT(Values(each), Pointwise(FloatNear(1e-6f), losses));
  const double all = loss(x, target, "sum").item();
  EXPECT_NEAR(all, std::accumulate(losses.begin(), losses.end(), 0.f), 1e-5);
  EXPECT_NEAR(loss(x, target, "mean").item(), all / 4, 1e-6);
  each.sum().backward();
  EXPECT_THAT(Values(x.grad()), Pointwise(FloatNear(1e-6f), gradient));
  EXPECT_THAT(MessageOf([&] { loss(x, target, "batch"); }), HasSubstr("reduction is \"batch\""));
}

TEST(Losses, OfDifferences) {
  using Text = std::string_view;
  ExpectLoss([](auto& x, auto& y, Text how) { return l1_loss(x, y, how); }, {1, 0, 0.5f, 2.75f},
             {-1, 0, -1, 1});
  ExpectLoss([](auto& x, auto& y, Text how) { return smooth_l1_loss(x, y, how); },
             {0.5f, 0, 0.125f, 2.25f}, {-1, 0, -0.5f, 1});
  ExpectLoss([](auto& x, auto& y, Text how) { return smooth_l1_loss(x, y, how, 0.5); },
             {0.75f, 0, 0.25f, 2.5f}, {-1, 0, -1, 1});
  ExpectLoss([](auto& x, auto& y, Text how) { return huber_loss(x, y, how, 2); },
             {0.5f, 0, 0.125f, 3.5f}, {-1, 0, -0.5f, 2});
  ExpectLoss([](auto& x, auto& y, Text how) { return binary_cross_entropy_with_logits(x, y, how); },
             {0.3132617f, 0.6931472f, 0.474077f, 2.2985873f},
             {0.2689414f, 0.5f, -0.3775406f, 0.7025741f});
}

TEST(Losses, OfProbabilities) {
  const Tensor p = tensor({0., 1., 0.25, 0.9}).requires_grad_();
  const Tensor each = binary_cross_entropy(p, tensor({1., 1., 0.5, 0.}), "none");
  EXPECT_THAT(Values(each),
              ElementsAre(100, 0, FloatNear(0.8369882f, 1e-6f), FloatNear(2.3025849f, 1e-6f)));
  each.sum().backward();
  EXPECT_THAT(Values(p.grad()), ElementsAre(FloatNear(-1e12f, 1e7f), 0, FloatNear(-4 / 3.f, 1e-6f),
                                            FloatNear(10, 1e-4f)));
}

TEST(Losses, Divergence) {
  const Tensor q = log(tensor({{0.2, 0.8}, {0.5, 0.5}})).detach().requires_grad_();
  const Tensor p = tensor({{0., 1.}, {0.25, 0.75}}).requires_grad_();
  EXPECT_THAT(
      Values(kl_div(q, p, "none")),
      Pointwise(FloatNear(1e-6f), std::vector<float>{0, 0.2231435f, -0.1732868f, 0.3040988f}));
  EXPECT_NEAR(kl_div(q, p).item(), 0.0884889, 1e-6);
  const Tensor loss = kl_div(q, p, "batchmean");
  EXPECT_NEAR(loss.item(), 0.1769778, 1e-6);
  loss.backward();
  EXPECT_THAT(Values(q.grad()), ElementsAre(0, -0.5, -0.125, -0.375));
  EXPECT_NEAR(p.grad()[1][0].item(), 0.1534264, 1e-6);
  const Tensor log_p = log(p.detach() + 0.1);
  EXPECT_NEAR(kl_div(q, log_p, "batchmean", /*log_target=*/true).item(), 0.3035911, 1e-6);
}

TEST(Softplus, AsPyTorch) {
  const std::vector<float> numbers{-100, -1, 0, 1, 19, 25, 100};
  const auto check = [&](double beta, double threshold, const std::vector<float>& values,
                         const std::vector<float>& gradient) {
    const Tensor x = Tensor::FromHost(std::span<const float>(numbers), {7}).requires_grad_();
    const Tensor y = softplus(x, beta, threshold);
    EXPECT_THAT(Values(y), Pointwise(FloatNear(1e-6f), values));
    y.sum().backward();
    EXPECT_THAT(Values(x.grad()), Pointwise(FloatNear(1e-6f), gradient));
  };
  check(1, 20, {0, 0.3132617f, 0.6931472f, 1.3132616f, 19, 25, 100},
        {0, 0.2689414f, 0.5f, 0.7310586f, 1, 1, 1});
  check(2, 1, {0, 0.063464f, 0.3465736f, 1, 19, 25, 100}, {0, 0.1192029f, 0.5f, 1, 1, 1, 1});
}

TEST(Loaders, AreRanges) {
  metrics::Counter& marks = metrics::Counter::Of("MarkStep", metrics::Arena::kRuntime);
  int64_t left = 3;
  const auto read = [&]() -> std::optional<HostBatch> {
    if (left == 0) return std::nullopt;
    const std::vector<float> values(2, float(left--));
    return HostBatch{HostTensor::Of(std::span<const float>(values), {2})};
  };
  const int64_t before = marks.value();
  std::vector<double> sums;
  DeviceLoader loader(read);
  for (auto& batch : loader) sums.push_back(batch[0].sum().item());
  EXPECT_THAT(sums, ElementsAre(6, 4, 2));
  EXPECT_EQ(marks.value() - before, 4) << "one before each batch, and one that finds the end";
  left = 2;
  ParallelLoader parallel(read, {&Device::Default()});
  PerDeviceLoader of_device(parallel, Device::Default());
  int64_t batches = 0;
  for (const Batch& batch : of_device) batches += int64_t(batch.size());
  EXPECT_EQ(batches, 2);
}

}  // namespace
}  // namespace xlaprof::lazy
