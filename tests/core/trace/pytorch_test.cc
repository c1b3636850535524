// Tests results that could easily differ from PyTorch's; each of them once did. The expected values
// are those of torch 2.9.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/functions.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "tests/core/observe/listener.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Put(const std::vector<float>& values, const Dims& sizes) {
  return Tensor::FromHost(std::span<const float>(values), sizes);
}
Tensor Put(const std::vector<float>& values) { return Put(values, {int64_t(values.size())}); }
Tensor Indices(const std::vector<int64_t>& values, const Dims& sizes) {
  return Tensor::FromHost(std::span<const int64_t>(values), sizes);
}
Tensor Leaf(const std::vector<float>& values) { return Put(values).requires_grad_(); }

// The expected values are x * P(X <= x), computed with math.erf, and those of the tanh form.
TEST(Gelu, IsExactUnlessAsked) {
  const std::vector<float> x{-3, -1, -0.5f, 0, 0.5f, 1, 3};
  const std::vector<float> exact{-0.00404969f, -0.15865525f, -0.15426877f, 0,
                                 0.34573123f,  0.84134475f,  2.99595031f};
  const std::vector<float> by_tanh{-0.00363739f, -0.15880801f, -0.15428599f, 0,
                                   0.34571401f,  0.84119199f,  2.99636261f};
  using ::testing::FloatNear;
  using ::testing::Pointwise;
  EXPECT_THAT(Values(gelu(Put(x))), Pointwise(FloatNear(3e-7f), exact));
  EXPECT_THAT(Values(gelu(Put(x), "none")), Pointwise(FloatNear(3e-7f), exact));
  EXPECT_THAT(Values(gelu(Put(x), "tanh")), Pointwise(FloatNear(3e-7f), by_tanh));
  EXPECT_THAT(MessageOf([&] { gelu(Put(x), "erf"); }),
              HasSubstr("aten::gelu(f32[7]): approximate is \"erf\""));
}

TEST(Softmax, OfAnEmptyDimensionIsEmpty) {
  for (auto f : {softmax, log_softmax}) {
    for (const Dims& sizes : {Dims{2, 0}, Dims{0, 3}, Dims{0}, Dims{0, 0}}) {
      for (int64_t dim = -int64_t(sizes.size()); dim < int64_t(sizes.size()); ++dim) {
        Tensor x = Put({}, sizes).requires_grad_();
        const Tensor y = f(x, dim, Where::current());
        EXPECT_EQ(y.dtype(), DType::kF32);
        EXPECT_EQ(y.to_cpu().shape.dims, sizes);
        sum(y).backward();
        EXPECT_EQ(x.grad().to_cpu().shape.dims, sizes);
      }
    }
    EXPECT_EQ(f(zeros({2, 0}, DType::kF16), 1, Where::current()).dtype(), DType::kF16);
    EXPECT_THAT(MessageOf([&] { f(zeros({2, 0}), 2, Where::current()); }),
                HasSubstr("dimension 2 is out of range"));
  }
}

// --- graphs with equal nodes that are used differently are different programs ---

TEST(Programs, TellWhichNumberIsWhich) {
  const Tensor x = Put({10}, {1});
  EXPECT_EQ(((x + 2) * 2 - 3).item(), 21);
  EXPECT_EQ(((x + 2) * 3 - 2).item(), 34);
  const Tensor a = Put({1}, {1}), b = Put({2}, {1});
  EXPECT_EQ(((a + a) * b).item(), 4);
  EXPECT_EQ(((a + b) * a).item(), 3);
  EXPECT_THAT(Values(cat(std::vector<Tensor>{a, a, b}, 0)), ElementsAre(1, 1, 2));
  EXPECT_THAT(Values(cat(std::vector<Tensor>{b, a, b}, 0)), ElementsAre(2, 1, 2));
}

TEST(Programs, TellWhichResultIsWhich) {
  const Tensor a = Put({1}, {1}), b = Put({2}, {1});
  for (const bool clone_first : {true, false}) {
    const Tensor x = a + 1;
    Tensor y, z;
    if (clone_first) y = x.clone();
    z = b + 1;
    if (!clone_first) y = x.clone();
    mark_step();
    EXPECT_EQ(x.item(), 2);
    EXPECT_EQ(y.item(), 2);
    EXPECT_EQ(z.item(), 3);
  }
}

// --- writes in place, and other tensors that share the written memory ---

TEST(WritesInPlace, ACopyKeepsWhatItCopied) {
  Tensor a = Put({1, 2}), b = Put({0, 0});
  b.copy_(a);
  a.add_(1);
  mark_step();
  wait_device_ops();
  EXPECT_THAT(Values(b), ElementsAre(1, 2));
  EXPECT_THAT(Values(a), ElementsAre(2, 3));
  const Tensor kept = a.clone();  // together with the next line, a swap
  a.copy_(b), b.copy_(kept);
  a.mul_(10), b.mul_(10);
  mark_step();
  wait_device_ops();
  EXPECT_THAT(Values(a), ElementsAre(10, 20));
  EXPECT_THAT(Values(b), ElementsAre(20, 30));
}

TEST(WritesInPlace, OneTensorJoinedIsAnother) {
  const Tensor x = Put({1, 2});
  Tensor joined = cat(std::vector<Tensor>{x}, 0), stacked = stack(std::vector<Tensor>{x}, 0);
  joined.add_(10), stacked.fill_(7);
  EXPECT_THAT(Values(x), ElementsAre(1, 2));
}

TEST(WritesInPlace, GradientsAreEachLeafsOwn) {
  const Tensor a = Leaf({1, 2}), b = Leaf({3, 4});
  const Tensor y = a + b;
  sum(y * y).backward();
  for (const Tensor& leaf : {a, b}) leaf.grad().mul_(0.5);
  EXPECT_THAT(Values(a.grad()), ElementsAre(4, 6));
  EXPECT_THAT(Values(b.grad()), ElementsAre(4, 6));
  const Tensor c = Leaf({1, 2});
  sum(c).backward();
  c.grad().mul_(10);
  EXPECT_THAT(Values(c.grad()), ElementsAre(10, 10));
}

TEST(WritesInPlace, OfWhatBothNeedGradientsOf) {
  const Tensor a = Leaf({2, 3}), w = Leaf({5, 7});
  Tensor y = a * 1;
  y.mul_(w);
  sum(y).backward();
  EXPECT_THAT(Values(a.grad()), ElementsAre(5, 7));
  EXPECT_THAT(Values(w.grad()), ElementsAre(2, 3));
}

TEST(WritesInPlace, AnOlderViewHasTheNewHistory) {
  const Tensor x = Leaf({1, 2});
  Tensor y = x * 2;
  const Tensor view = y.view({2, 1});
  y.mul_(3);
  sum(view).backward();
  EXPECT_THAT(Values(x.grad()), ElementsAre(6, 6));
  Tensor rows = zeros({2});
  const Tensor row = rows.view({1, 2});
  EXPECT_FALSE(row.requires_grad());
  rows.copy_(x);
  EXPECT_TRUE(row.requires_grad());
  sum(row * 2).backward();
  EXPECT_THAT(Values(x.grad()), ElementsAre(8, 8));
  Tensor first = rows.slice(0, 0, 1);
  first.mul_(10);
  sum(row).backward();
  EXPECT_THAT(Values(x.grad()), ElementsAre(18, 9));
  NoGrad no_grad;
  EXPECT_THAT(Values(row), ElementsAre(10, 2));
}

TEST(WritesInPlace, WhatIsOverwrittenHasAGradientOfZero) {
  const Tensor x = Leaf({1, 2});
  Tensor y = x * 2, z = x * 3;
  y.zero_(), z.slice(0, 0, 1).copy_(Put({7}));
  EXPECT_TRUE(y.requires_grad());
  sum(y).backward();
  EXPECT_THAT(Values(x.grad()), ElementsAre(0, 0));
  sum(z).backward();
  EXPECT_THAT(Values(x.grad()), ElementsAre(0, 3));
  Tensor whole = zeros({2}, DType::kI64);
  whole.slice(0, 0, 1).copy_(x.slice(0, 0, 1));  // integers have no gradient
  EXPECT_FALSE(whole.requires_grad());
}

// A detached tensor has a history of its own.
TEST(WritesInPlace, OfADetachedTensor) {
  const Tensor x = Leaf({1, 2}), w = Leaf({5, 7});
  const Tensor y = x * 2;
  Tensor detached = y.detach();
  detached.slice(0, 1, 2).mul_(w.slice(0, 0, 1));
  EXPECT_THAT(Values(y), ElementsAre(2, 20));
  sum(detached).backward();
  EXPECT_THAT(Values(w.grad()), ElementsAre(4, 0));
  EXPECT_FALSE(x.grad().defined());
  sum(y).backward();
  EXPECT_THAT(Values(x.grad()), ElementsAre(2, 2));
}

TEST(WritesInPlace, OfAViewWhoseTensorGotOtherData) {
  const Tensor x = Leaf({5});
  Tensor y = zeros({1, 2});
  const Tensor view = y.view({2});
  Tensor part = view.slice(0, 0, 1);
  y.set_data(ones({2, 1}).t());
  part.add_(x);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_THAT(Values(view), ElementsAre(5, 0));
  EXPECT_THAT(Values(y), Each(1));
  sum(part).backward();
  EXPECT_THAT(Values(x.grad()), ElementsAre(1));
}

TEST(WritesInPlace, WhatPyTorchRefuses) {
  Tensor x = Leaf({1, 2});
  EXPECT_THAT(MessageOf([&] { x.add_(1); }), HasSubstr("a leaf that needs a gradient"));
  EXPECT_THAT(MessageOf([&] { x.slice(0, 0, 1).add_(1); }), HasSubstr("a view of a leaf that"));
  Tensor plain = zeros({2}), early = plain.slice(0, 0, 1);
  plain.requires_grad_();
  EXPECT_THAT(MessageOf([&] { early.add_(1); }), HasSubstr("a view of a leaf that"));
  Tensor y = x * 1;
  Tensor hidden;
  {
    NoGrad no_grad;
    hidden = y.slice(0, 0, 1);
    x.slice(0, 0, 1).add_(1);  // an optimizer's writes raise no error
  }
  EXPECT_FALSE(hidden.requires_grad());
  EXPECT_THAT(MessageOf([&] { hidden.add_(1); }), HasSubstr("taken under NoGrad"));
  y.add_(1);
  EXPECT_THAT(MessageOf([&] { hidden * 1; }), HasSubstr("taken under NoGrad"));
  const Tensor part = y.slice(0, 1, 2), square = part * part;
  y.slice(0, 0, 1).add_(1);  // shares the memory of what was saved
  EXPECT_THAT(MessageOf([&] { sum(square).backward(); }), HasSubstr("was written in place after"));
  EXPECT_THAT(MessageOf([&] { y.slice(0, 0, 1).expand({2}).mul_(x); }), HasSubstr("share memory"));
}

// --- gradients ---

TEST(Gradients, OfWhatIsNotTakenAreNone) {
  const Tensor none = Put({0, 0});
  auto grad = [](const std::vector<float>& at, auto f) {
    const Tensor x = Leaf(at);
    sum(f(x)).backward();
    return Values(x.grad());
  };
  EXPECT_THAT(grad({-1, 0}, [](auto& x) { return sqrt(relu(x)); }), Each(0));
  EXPECT_THAT(grad({-1, -2}, [](auto& x) { return log(clamp(x, 0, 5)); }), Each(0));
  EXPECT_THAT(grad({-1, -2}, [&](auto& x) { return sqrt(maximum(x, none)); }), Each(0));
  EXPECT_THAT(grad({-1, -2}, [&](auto& x) { return sqrt(lazy::where(gt(x, 0), x, none)); }),
              Each(0));
}

TEST(Gradients, AtTiesAndEdges) {
  const Tensor zero = Leaf({0, -0.f});
  sum(lazy::abs(zero)).backward();
  EXPECT_THAT(Values(zero.grad()), Each(0));
  for (auto f : {+[](const Tensor& a, const Tensor& b) { return maximum(a, b); },
                 +[](const Tensor& a, const Tensor& b) { return minimum(a, b); }}) {
    const Tensor a = Leaf({3}), b = Leaf({3});
    sum(f(a, b)).backward();
    EXPECT_THAT(Values(a.grad()), ElementsAre(0.5));
    EXPECT_THAT(Values(b.grad()), ElementsAre(0.5));
  }
  const Tensor low = Leaf({-1}), high = Leaf({1});
  sum(minimum(low, high)).backward();
  EXPECT_THAT(Values(low.grad()), ElementsAre(1));
  EXPECT_THAT(Values(high.grad()), ElementsAre(0));
  const Tensor edge = Leaf({0, 1, 5, 6});
  sum(clamp(edge, 1, 5)).backward();
  EXPECT_THAT(Values(edge.grad()), ElementsAre(0, 1, 1, 0));
  const Tensor base = Leaf({0}), exponent = Leaf({2});
  sum(pow(base, 0)).backward();
  EXPECT_THAT(Values(base.grad()), ElementsAre(0));
  sum(pow(Put({0}), exponent)).backward();
  EXPECT_THAT(Values(exponent.grad()), ElementsAre(0));
  const Tensor factors = Leaf({0, 2, 3});
  sum(prod(factors, {0})).backward();
  EXPECT_THAT(Values(factors.grad()), ElementsAre(6, 0, 0));
  const Tensor two = Leaf({0, 0, 3});
  sum(prod(two, {0})).backward();
  EXPECT_THAT(Values(two.grad()), Each(0));
}

TEST(Gradients, FlowThroughWhatRunsOnTheCpu) {
  const Tensor weights = Put({1, 2, 3});
  const Tensor w = Leaf({3, 1, 2});
  (sum(w * w) + sum(sort(w).values * weights)).backward();
  EXPECT_THAT(Values(w.grad()), ElementsAre(9, 3, 6));
  const Tensor top = Leaf({3, 1, 2});
  sum(topk(top, 2).values * Put({10, 20})).backward();
  EXPECT_THAT(Values(top.grad()), ElementsAre(10, 0, 20));
  const Tensor masked = Leaf({3, 1, 2});
  sum(masked_select(masked, gt(masked, 1)) * Put({10, 20})).backward();
  EXPECT_THAT(Values(masked.grad()), ElementsAre(10, 0, 20));
}

TEST(Gradients, AgainWhereNothingWasSaved) {
  const Tensor w = Leaf({1, 2});
  const Tensor loss = sum(w + 1);
  loss.backward();
  loss.backward();
  EXPECT_THAT(Values(w.grad()), ElementsAre(2, 2));
  const Tensor square = sum(w * w);
  square.backward();
  EXPECT_THAT(MessageOf([&] { square.backward(); }), HasSubstr("a second time"));
}

// The chain is released on a small stack.
TEST(Gradients, OfAChainOfAnyLength) {
  Tensor y = Leaf({1});
  for (int i = 0; i < 30'000; ++i) {
    y = y * 1;
    if (i % 1000 == 0) mark_step();
  }
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, size_t{256} << 10);
  pthread_t thread;
  auto give_up = [](void* tensor) -> void* {
    *static_cast<Tensor*>(tensor) = Tensor();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &small, give_up, &y), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
  EXPECT_FALSE(y.defined());
}

TEST(Gradients, OfGroupedAndDilatedConvolutions) {
  const auto leaf = [](Tensor x) { return x.requires_grad_(); };
  const auto counting = [](const Tensor& y) {
    return (arange(y.numel(), DType::kF32) + 1).view(y.sizes());
  };
  const Tensor x = leaf(arange(16, DType::kF32).view({1, 4, 2, 2}).clone());
  const Tensor w = leaf((arange(32, DType::kF32) - 15).view({4, 2, 2, 2}).clone());
  const Tensor y = conv2d(x, w, Put({1, 2, 3, 4}), 1, /*padding=*/1, /*dilation=*/2, /*groups=*/2);
  EXPECT_THAT(Values(y), ElementsAre(-91, -79, -63, -43, -10, -14, -14, -10, 167, 131, 99, 71, 376,
                                     324, 276, 232));
  y.backward(counting(y));
  EXPECT_THAT(Values(x.grad()), ElementsAre(-116, -84, -56, -32, -68, -44, -24, -8, 156, 172, 184,
                                            192, 268, 276, 280, 280));
  EXPECT_THAT(Values(w.grad()),
              ElementsAre(0, 3, 4, 3, 16, 15, 12, 7, 0, 7, 12, 15, 32, 35, 36, 35, 96, 99, 100, 99,
                          144, 143, 140, 135, 128, 135, 140, 143, 192, 195, 196, 195));
  const Tensor line = leaf(arange(10, DType::kF32).view({1, 2, 5}).clone());
  const Tensor kernel = leaf(Put({1, 2, 3, 4, 5, 6}, {2, 1, 3}));
  const Tensor z = conv1d(line, kernel, Put({1, 2}), /*stride=*/2, /*padding=*/1, 1, /*groups=*/2);
  EXPECT_THAT(Values(z), ElementsAre(4, 15, 12, 63, 109, 79));
  z.backward(counting(z));
  EXPECT_THAT(Values(line.grad()), ElementsAre(2, 5, 4, 9, 6, 20, 44, 25, 54, 30));
  EXPECT_THAT(Values(kernel.grad()), ElementsAre(11, 16, 7, 78, 109, 64));
  const nn::Conv2d depthwise(4, 8, 3, 1, 1, /*dilation=*/1, /*groups=*/4);
  EXPECT_EQ(depthwise.weight.sizes(), (Dims{8, 1, 3, 3}));
  EXPECT_EQ(depthwise(ones({2, 4, 5, 5})).sizes(), (Dims{2, 8, 5, 5}));
}

// --- values ---

TEST(Numbers, OfInfinitiesAndMany) {
  EXPECT_EQ(logsumexp(Put({kInf, 1, 2}), 0).item(), kInf);
  EXPECT_EQ(logsumexp(Put({-kInf, -kInf}), 0).item(), -kInf);
  EXPECT_EQ(mean(full({100'000}, 1., DType::kF16)).item(), 1);
  for (int64_t n = 1; n < 200; ++n) EXPECT_EQ(mean(ones({n})).item(), 1) << n;
  EXPECT_THAT(Values(ones({3, 1}).expand({-1, 2})), Each(1));
}

template <class T>
Tensor PutWhole(const std::vector<T>& values) {
  return Tensor::FromHost(std::span<const T>(values), {int64_t(values.size())});
}
std::vector<int64_t> WholeValues(const Tensor& tensor) {
  const HostTensor host = tensor.to_cpu();
  std::vector<int64_t> values;
  for (int64_t i = 0; i < host.shape.elements(); ++i) values.push_back(host.Whole(i));
  return values;
}

TEST(ShortIntegers, WrapAround) {
  const Tensor u = PutWhole<uint8_t>({1, 200, 255}), i = PutWhole<int8_t>({1, -128, 127});
  for (const Tensor& x : {u + 300, u - 1, u * 2, neg(u), pow(u, 2), remainder(u, 3), u.clone()})
    EXPECT_EQ(x.dtype(), DType::kU8);
  EXPECT_THAT(WholeValues(u + 300), ElementsAre(45, 244, 43));
  EXPECT_THAT(WholeValues(u - 1), ElementsAre(0, 199, 254));
  EXPECT_THAT(WholeValues(u * 2), ElementsAre(2, 144, 254));
  EXPECT_THAT(WholeValues(neg(u)), ElementsAre(255, 56, 1));
  EXPECT_THAT(WholeValues(pow(u, 2)), ElementsAre(1, 64, 1));
  EXPECT_THAT(WholeValues(remainder(u, 3)), ElementsAre(1, 2, 0));
  EXPECT_THAT(WholeValues(eq(u, -1)), ElementsAre(0, 0, 1));
  EXPECT_THAT(WholeValues(lazy::abs(i)), ElementsAre(1, -128, 127));
  EXPECT_THAT(WholeValues(i + 200), ElementsAre(-55, 72, 71));
  EXPECT_THAT(WholeValues(pow(i, 2)), ElementsAre(1, 0, 1));
  EXPECT_THAT(WholeValues(remainder(i, 3)), ElementsAre(1, 1, 1));
  EXPECT_THAT(WholeValues(relu(i)), ElementsAre(1, 0, 127));
  EXPECT_THAT(WholeValues(u + i), ElementsAre(2, 72, 382));
  EXPECT_EQ((u + i).dtype(), DType::kI16);
  EXPECT_THAT(WholeValues(u.to(DType::kI8)), ElementsAre(1, -56, -1));
  EXPECT_THAT(Values(u / 2), ElementsAre(0.5, 100, 127.5));
  EXPECT_THAT(WholeValues(sum(u)), ElementsAre(456));
  EXPECT_EQ(prod(i).dtype(), DType::kI64);
  EXPECT_THAT(WholeValues(argmax(u, 0)), ElementsAre(2));
  EXPECT_THAT(WholeValues(matmul(ones({2, 2}, DType::kU8), full({2, 2}, 200, DType::kU8))),
              Each(144));
  EXPECT_THAT(WholeValues(sort(cat(std::vector{i, i})).values), ElementsAre(-128, -128, 1, 1, 127, 127));
  EXPECT_THAT(WholeValues(zeros({1}, DType::kU8).fill_(-1)), ElementsAre(255));
  EXPECT_THAT(MessageOf([] { zeros({1}, DType::kU8).fill_(300); }),
              HasSubstr("aten::fill_: uint8 cannot hold 300"));
  EXPECT_THAT(MessageOf([] { full({1}, -129, DType::kI8); }),
              HasSubstr("aten::full: int8 cannot hold -129"));
  EXPECT_THAT(MessageOf([&] { mean(u); }), HasSubstr("aten::mean(u8[3])"));
}

// PyTorch leaves these values undefined; they are XLA's.
TEST(ShortIntegers, HoldTheNearestFloat) {
  const Tensor x = Put({300, -1, -300, 3e9f, NAN, 255.9f, 127.9f});
  EXPECT_THAT(WholeValues(x.to(DType::kU8)), ElementsAre(255, 0, 0, 255, 0, 255, 127));
  EXPECT_THAT(WholeValues(x.to(DType::kI8)), ElementsAre(127, -1, -128, 127, 0, 127, 127));
  EXPECT_THAT(WholeValues(x.to(DType::kI16)), ElementsAre(300, -1, -300, 32767, 0, 255, 127));
}

// Counts the bytes that are sent to devices.
class TransferListener final : public Listener {
 public:
  void OnTransfer(const observe::Transfer& transfer) override {
    if (transfer.to_device) bytes += transfer.bytes;
  }
  std::atomic<int64_t> bytes = 0;
};

TEST(ShortIntegers, ImagesAreSentAsBytes) {
  static TransferListener& listener = *new TransferListener;
  const Dims sizes{8, 3, 16, 16};
  const auto count = size_t(Shape{DType::kU8, sizes}.elements());
  std::vector<uint8_t> pixels(count);
  std::vector<float> wide(count);
  for (size_t i = 0; i < count; ++i) pixels[i] = uint8_t(i * 7), wide[i] = float(pixels[i]);
  const auto normalized = [](const Tensor& images) { return (images / 255 - 0.5) / 0.25; };
  normalized(Put({1})).to_cpu();  // sends the numbers
  observe::observer = &listener;
  const Tensor images = Tensor::FromHost(std::span<const uint8_t>(pixels), sizes);
  const std::vector<float> from_bytes = Values(normalized(images.to(DType::kF32)));
  const int64_t sent = listener.bytes.exchange(0);
  const Tensor floats = Tensor::FromHost(std::span<const float>(wide), sizes);
  const std::vector<float> from_floats = Values(normalized(floats));
  observe::observer = nullptr;
  EXPECT_EQ(sent, int64_t(count));
  EXPECT_EQ(listener.bytes, int64_t(4 * count));
  EXPECT_EQ(from_bytes, from_floats);
  EXPECT_EQ(from_bytes[1], (7.f / 255 - 0.5f) / 0.25f);
}

TEST(Losses, IgnoredTargetsCountForNothing) {
  const Tensor logits = Leaf({1, 2, 3, 1, 1, 1});
  const Tensor loss = cross_entropy(logits.view({2, 3}), Indices({2, -100}, {2}));
  EXPECT_NEAR(loss.item(), 0.407606, 1e-5);
  loss.backward();
  EXPECT_NEAR(Values(logits.grad())[2], -0.334760, 1e-5);
  EXPECT_EQ(Values(logits.grad())[3], 0);
  EXPECT_THAT(MessageOf([&] { nll_loss(zeros({4, 3}), Indices({0, 1}, {2})); }),
              HasSubstr("aten::nll_loss(f32[4,3], s64[2])"));
}

TEST(Optimizers, CountTheStepsOfEachParameter) {
  std::vector<Tensor> weights{Leaf({1}), Leaf({1})};
  optim::Adam adam(weights, 0.1);
  for (int step = 0; step < 3; ++step) {
    adam.zero_grad();
    sum(weights[0] * weights[0]).backward();
    if (step == 2) sum(weights[1]).backward();
    optimizer_step(adam, /*barrier=*/true);
  }
  EXPECT_NEAR(weights[1].item(), 0.9, 1e-5);
  EXPECT_NEAR(weights[0].item(), 0.7006, 1e-3);
}

// --- refused arguments ---

TEST(Refused, BytesAndSizesThatDoNotFit) {
  const HostTensor few{{DType::kF32, {1'000'000}}, std::vector<std::byte>(4)};
  EXPECT_THAT(MessageOf([&] { Tensor::FromHost(few); }),
              HasSubstr("4 bytes do not fit f32[1000000]"));
  const HostTensor negative{{DType::kF32, {-2, -2}}, std::vector<std::byte>(16)};
  EXPECT_THAT(MessageOf([&] { Tensor::FromHost(negative); }), HasSubstr("a size is negative"));
  EXPECT_THAT(MessageOf([&] { zeros({int64_t{1} << 62, 4}); }), HasSubstr("more elements than"));
  EXPECT_THAT(MessageOf([&] { deepcopy(Tensor()); }), HasSubstr("tensor"));
}

TEST(Loader, OfNothingAheadGivesItsBatches) {
  int left = 3;
  DeviceLoader loader(
      [&]() -> std::optional<DeviceLoader::HostBatch> {
        if (left-- == 0) return std::nullopt;
        return DeviceLoader::HostBatch{ones({1}).to_cpu()};
      },
      Device::Default(), /*ahead=*/0);
  int batches = 0;
  while (loader.next()) ++batches;
  EXPECT_EQ(batches, 3);
}

}  // namespace
}  // namespace xlaprof::lazy
