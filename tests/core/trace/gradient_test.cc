// Compares the gradient of every operation with the difference (f(x + h) - f(x - h)) / 2h in f64.
#include <gtest/gtest.h>

#include <random>

#include "core/nn/nn.h"
#include "core/trace/functions.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

Tensor PutDoubles(const std::vector<double>& values, const Dims& sizes) {
  return Tensor::FromHost(std::span<const double>(values), sizes);
}

// `f` returns any tensor. Its elements are weighted, so that each counts differently.
void Check(const Function& f, const std::vector<Dims>& sizes, double least = -2, double most = 2) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> draw(least, most);
  std::vector<std::vector<double>> values;
  for (const Dims& of : sizes) {
    std::vector<double>& own = values.emplace_back(size_t(Shape{DType::kF64, of}.elements()));
    for (double& value : own) value = draw(random);
  }
  auto weighted = [&](const std::vector<Tensor>& inputs) {
    const Tensor out = f(inputs);
    const Tensor weights = (arange(out.numel(), DType::kF64) + 1).view(out.sizes());
    return sum(out * weights * 0.1);
  };
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < sizes.size(); ++i)
    inputs.push_back(PutDoubles(values[i], sizes[i]).requires_grad_());
  weighted(inputs).backward();
  NoGrad no_grad;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_TRUE(inputs[i].grad().defined());
    const HostTensor grad = inputs[i].grad().to_cpu();
    ASSERT_EQ(grad.shape.dims, sizes[i]);
    for (size_t k = 0; k < values[i].size(); ++k) {
      constexpr double kStep = 1e-5;
      auto at = [&](double off) {
        std::vector<double> moved = values[i];
        moved[k] += off;
        std::vector<Tensor> others = inputs;
        others[i] = PutDoubles(moved, sizes[i]);
        return weighted(others).item();
      };
      const double expected = (at(kStep) - at(-kStep)) / (2 * kStep);
      EXPECT_NEAR(grad.Real(int64_t(k)), expected, 1e-5 * std::max(1., std::abs(expected)))
          << "input " << i << ", element " << k;
    }
  }
}

using Inputs = const std::vector<Tensor>&;

TEST(Gradient, OfOne) {
  for (auto f : {neg, exp, tanh, sigmoid, sin, cos, erf, relu, lazy::abs})
    Check([f](Inputs x) { return f(x[0], Where::current()); }, {{3, 2}});
  for (auto f : {lazy::log, log1p, lazy::sqrt, rsqrt})
    Check([f](Inputs x) { return f(x[0], Where::current()); }, {{3, 2}}, 0.5, 2);
  for (const char* approximate : {"none", "tanh"})
    Check([=](Inputs x) { return gelu(x[0], approximate); }, {{3, 2}});
}

TEST(Gradient, OfTwo) {
  using Binary = Tensor (*)(const Tensor&, const Tensor&, Where);
  for (Binary f : {Binary(add), Binary(sub), Binary(mul), Binary(maximum), Binary(minimum)}) {
    Check([f](Inputs x) { return f(x[0], x[1], Where::current()); }, {{3, 2}, {3, 2}});
    Check([f](Inputs x) { return f(x[0], x[1], Where::current()); }, {{3, 2}, {2}});
    Check([f](Inputs x) { return f(x[0], x[1], Where::current()); }, {{3, 1}, {1, 2}});
  }
  for (Binary f : {Binary(div), Binary(lazy::pow)})
    Check([f](Inputs x) { return f(x[0], x[1], Where::current()); }, {{3, 2}, {2}}, 0.5, 2);
  Check([](Inputs x) { return 2 - x[0] * 3 / 4 + x[0]; }, {{4}});
  Check([](Inputs x) { return 2 / x[0] + pow(1.5, x[0]); }, {{4}}, 0.5, 2);
}

TEST(Gradient, OfChoice) {
  Check([](Inputs x) { return where(gt(x[0], 0), x[0], x[1] * 2); }, {{3, 2}, {3, 2}});
  Check([](Inputs x) { return clamp(x[0], -1, 1); }, {{5}});
}

TEST(Gradient, OfViews) {
  Check([](Inputs x) { return x[0].view({-1, 2}); }, {{3, 4}});
  Check([](Inputs x) { return x[0].permute({2, 0, 1}); }, {{2, 3, 4}});
  Check([](Inputs x) { return x[0].t(); }, {{3, 2}});
  Check([](Inputs x) { return x[0].slice(1, 1, 4, 2); }, {{2, 5}});
  Check([](Inputs x) { return x[0].slice(-1, -3, 100); }, {{2, 5}});
  Check([](Inputs x) { return x[0].slice(0, -4, -1, 2); }, {{5, 2}});
  Check([](Inputs x) { return cat(std::vector{x[0].slice(1, 3, 1), x[0]}, -1); }, {{2, 5}});
  Check([](Inputs x) { return x[0].select(0, -1); }, {{3, 2}});
  Check([](Inputs x) { return x[0].select(-2, -3); }, {{3, 2}});
  Check([](Inputs x) { return x[0].permute({-1, 0, -2}); }, {{2, 3, 4}});
  Check([](Inputs x) { return x[0].unsqueeze(-1).squeeze(-1).flatten(-2); }, {{2, 3, 4}});
  Check([](Inputs x) { return x[0].unsqueeze(1).expand({3, 4, 2}); }, {{3, 2}});
  Check([](Inputs x) { return cat(std::vector{x[0], x[1], x[0]}, 1); }, {{2, 1}, {2, 3}});
  Check([](Inputs x) { return stack(std::vector{x[0], x[1]}, 1); }, {{2, 3}, {2, 3}});
  Check([](Inputs x) { return pad(x[0], {1, 0}, {0, 2}, 7); }, {{2, 3}});
  // Regression: elements that are cut off have a gradient of 0, but the gradient was as small as
  // the rest.
  for (const Dims& low : {Dims{0, -1}, Dims{1, -2}, Dims{-1, 2}, Dims{-2, 0}}) {
    for (const Dims& high : {Dims{0, 0}, Dims{0, -1}, Dims{1, 2}})
      Check([&](Inputs x) { return pad(x[0], low, high, 7); }, {{3, 4}});
  }
  Check([](Inputs x) { return flip(x[0], {1, 0}); }, {{2, 3}});
  Check([](Inputs x) { return flip(x[0], {-1}); }, {{2, 3}});
  Check([](Inputs x) { return flip(x[0], {}); }, {{2, 3}});
  for (int64_t diagonal : {0, -1, -5, 1, 5})
    Check([=](Inputs x) { return tril(x[0], diagonal); }, {{3, 3}});
}

TEST(Gradient, OfProducts) {
  Check([](Inputs x) { return matmul(x[0], x[1]); }, {{3, 2}, {2, 4}});
  Check([](Inputs x) { return matmul(x[0], x[1]); }, {{2}, {2, 4}});
  Check([](Inputs x) { return matmul(x[0], x[1]); }, {{2, 3, 2}, {2, 4}});
  Check([](Inputs x) { return matmul(x[0], x[1]); }, {{2, 1, 3, 2}, {3, 2, 2}});
  Check([](Inputs x) { return linear(x[0], x[1], x[2]); }, {{3, 2}, {4, 2}, {4}});
}

TEST(Gradient, OfConvolutions) {
  Check([](Inputs x) { return conv2d(x[0], x[1], x[2]); }, {{2, 2, 4, 4}, {3, 2, 3, 3}, {3}});
  Check([](Inputs x) { return conv2d(x[0], x[1], Tensor(), 2, 1); }, {{1, 2, 5, 5}, {2, 2, 3, 3}});
  Check([](Inputs x) { return conv2d(x[0], x[1], x[2], 2, 1, 2); },
        {{1, 2, 6, 5}, {2, 2, 3, 2}, {2}});
  Check([](Inputs x) { return conv2d(x[0], x[1], x[2], 1, 1, 1, 2); },
        {{2, 4, 3, 3}, {6, 2, 2, 3}, {6}});
  Check([](Inputs x) { return conv2d(x[0], x[1], Tensor(), 1, 2, 2, 3); },
        {{1, 3, 4, 4}, {3, 1, 3, 3}});
  Check([](Inputs x) { return conv1d(x[0], x[1], x[2], 2, 1, 2, 2); }, {{2, 4, 7}, {2, 2, 3}, {2}});
}

TEST(Gradient, OfPools) {
  Check([](Inputs x) { return max_pool2d(x[0], 2); }, {{1, 2, 4, 4}});
  Check([](Inputs x) { return max_pool2d(x[0], 3, 2, 1); }, {{1, 1, 5, 5}});
  Check([](Inputs x) { return avg_pool2d(x[0], 2); }, {{1, 2, 4, 4}});
  Check([](Inputs x) { return avg_pool2d(x[0], 3, 2, 1); }, {{1, 1, 5, 5}});
}

TEST(Gradient, OfBatchNorm) {
  const Tensor mean = PutDoubles({0.5, -1}, {2}), var = PutDoubles({4, 0.25}, {2});
  for (const Dims& sizes : {Dims{3, 2, 2, 2}, Dims{5, 2}}) {
    for (bool training : {true, false}) {
      const auto norm = [&](Inputs x) {
        return batch_norm(x[0], mean.clone(), var.clone(), x[1], x[2], training);
      };
      Check(norm, {sizes, {2}, {2}});
    }
    Check([&](Inputs x) { return batch_norm(x[0], {}, {}, {}, {}, true); }, {sizes});
  }
}

// Other views of the written tensor see the write, also in their gradients.
TEST(Gradient, OfWritesThroughViews) {
  Check(
      [](Inputs x) {
        Tensor y = x[0] * 1;
        y.select(1, 0).add_(x[1]);
        y.slice(0, 1, 3).mul_(x[2]);
        return y * y;
      },
      {{3, 2}, {3}, {2}});
  Check(
      [](Inputs x) {
        Tensor y = x[0] * 1;
        const Tensor before = y.t(), row = before.select(1, 1), other = y.slice(1, 0, 1);
        y.t().slice(1, 0, 3, 2).copy_(x[1]);
        y.view({2, 3}).select(0, 1).mul_(2);
        return cat(std::vector{before.flatten(), row * row, other.flatten()}, 0);
      },
      {{3, 2}, {2, 1}});
  Check(
      [](Inputs x) {
        Tensor y = zeros({4}, DType::kF64);  // has no gradient before
        const Tensor first = y.slice(0, 0, 2), wide = first.unsqueeze(1).expand({2, 2});
        y.slice(0, 1, 3).copy_(x[0]);
        y.slice(0, 0, 1).fill_(3);
        y.mul_(x[1]);
        return cat(std::vector{y, (wide * y.select(0, 1)).flatten()}, 0);
      },
      {{2}, {4}});
  Check(
      [](Inputs x) {
        Tensor y = x[0] * 2;
        Tensor part = y.select(0, 1);
        for (int i = 0; i < 2; ++i) part = part.add_(x[1], i).mul_(y.select(0, 0) - part * 0.1);
        return sum(y * y) + sum(part);
      },
      {{2, 2}, {2}});
}

// The source of a copy keeps its gradient, also if it is a leaf of the target's type and size.
TEST(Gradient, OfCopies) {
  auto copied = [](const Tensor& from, Dims sizes) {
    Tensor to = zeros(std::move(sizes), DType::kF64);
    to.copy_(from);
    return to;
  };
  Check([&](Inputs x) { return copied(x[0], {3, 2}); }, {{3, 2}});
  Check([&](Inputs x) { return copied(x[0], {3, 2}); }, {{2}});
  Check([&](Inputs x) { return copied(x[0] * 2, {3, 2}); }, {{3, 2}});
  Check([&](Inputs x) { return copied(x[0], {2}) * x[0]; }, {{2}});
}

TEST(Gradient, OfACopiedLeafGoesToTheLeaf) {
  Tensor leaf = PutDoubles({1, 2}, {2}).requires_grad_();
  Tensor x = zeros({2}, DType::kF64);
  x.copy_(leaf);
  EXPECT_TRUE(x.requires_grad());
  sum(x * x).backward();
  EXPECT_EQ(Values(leaf.grad()), (std::vector<float>{2, 4}));
  EXPECT_FALSE(x.grad().defined());
  Tensor narrow = zeros({2});
  narrow.copy_(leaf);
  sum(narrow).backward();
  EXPECT_EQ(Values(leaf.grad()), (std::vector<float>{3, 5}));
  NoGrad no_grad;
  Tensor plain = zeros({2}, DType::kF64);
  plain.copy_(leaf);
  EXPECT_FALSE(plain.requires_grad());
}

TEST(Gradient, OfReductions) {
  using Reduction = Tensor (*)(const Tensor&, DimList, bool, Where);
  for (Reduction f : {Reduction(sum), Reduction(mean), Reduction(amax), Reduction(amin)}) {
    Check([f](Inputs x) { return f(x[0], {1}, false, Where::current()); }, {{3, 4}});
    Check([f](Inputs x) { return f(x[0], {0, -1}, true, Where::current()); }, {{2, 3, 2}});
    Check([f](Inputs x) { return f(x[0], {}, false, Where::current()); }, {{2, 3}});
  }
  Check([](Inputs x) { return prod(x[0], {1}); }, {{2, 3}}, 0.5, 2);
  Check([](Inputs x) { return prod(x[0], {-2}); }, {{2, 3}}, 0.5, 2);
  Check([](Inputs x) { return logsumexp(x[0], 1); }, {{2, 3}});
  Check([](Inputs x) { return logsumexp(x[0], -2); }, {{2, 3}});
  Check([](Inputs x) { return softmax(x[0], 1); }, {{2, 3}});
  Check([](Inputs x) { return softmax(x[0], -2); }, {{2, 3}});
  Check([](Inputs x) { return log_softmax(x[0], 1); }, {{2, 3}});
}

TEST(Gradient, OfIndexing) {
  const std::vector<int64_t> numbers{2, 0, 2, 1};
  const Tensor index = Tensor::FromHost(std::span(numbers), {4});
  Check([&](Inputs x) { return index_select(x[0], 0, index); }, {{3, 2}});
  Check([&](Inputs x) { return index_select(x[0], -1, index); }, {{2, 3}});
  Check([&](Inputs x) { return gather(x[0], 1, index.view({2, 2})); }, {{2, 3}});
  Check([&](Inputs x) { return gather(x[0], -1, index.view({2, 2})); }, {{2, 3}});
  Check([&](Inputs x) { return scatter_add(x[0], 1, index.view({2, 2}), x[1]); }, {{2, 3}, {2, 2}});
  Check([&](Inputs x) { return embedding(x[0], index.view({2, 2})); }, {{3, 2}});
}

TEST(Gradient, OfIndices) {
  const std::vector<int64_t> numbers{2, 0, 2, -1}, others{1, 0};
  const Tensor index = Tensor::FromHost(std::span(numbers), {4});
  const Tensor pair = Tensor::FromHost(std::span(others), {2});
  Check([&](Inputs x) { return x[0][index]; }, {{3, 2}});
  Check([&](Inputs x) { return x[0][{Slice{}, index}]; }, {{2, 3}});
  Check([&](Inputs x) { return x[0][{index.view({2, 2}), Slice{}, pair}]; }, {{3, 2, 2}});
  Check([&](Inputs x) { return x[0][{None, 1, Slice{0, 2}, pair}]; }, {{2, 3, 2}});
  Check([&](Inputs x) { return x[0][gt(x[0].detach(), 0)]; }, {{3, 4}});
  Check([&](Inputs x) { return masked_fill(x[0], gt(x[0].detach(), 0), 2); }, {{3, 4}});
  for (bool accumulate : {false, true}) {
    auto assigned = [&](Inputs x) {
      Tensor y = x[0] * 2;
      y.index_put_({Slice{}, pair}, x[1], accumulate);
      return y.index_put_(gt(y.detach(), 1), 0.5, accumulate);
    };
    Check(assigned, {{2, 3}, {2, 2}});
  }
  const Tensor places = pair.view({1, 2});
  Check([&](Inputs x) { return scatter(x[0], 0, places, x[1]); }, {{3, 2}, {1, 2}});
  Check([&](Inputs x) { return scatter(x[0], 0, places, 3); }, {{3, 2}});
  Check([&](Inputs x) { return index_add(x[0], 0, pair, x[1]); }, {{3, 2}, {2, 2}});
  Check([&](Inputs x) { return index_copy(x[0], 1, pair, x[1]); }, {{3, 4}, {3, 2}});
}

TEST(Gradient, OfStatistics) {
  for (double p : {2., 1., 3., 2.5, double(INFINITY), -double(INFINITY)}) {
    Check([p](Inputs x) { return norm(x[0], p, {1}); }, {{3, 4}});
    Check([p](Inputs x) { return norm(x[0], p); }, {{3, 4}});
  }
  for (int64_t correction : {0, 1}) {
    Check([=](Inputs x) { return var(x[0], {-1}, correction); }, {{2, 4}});
    Check([=](Inputs x) { return lazy::std(x[0], {0, 2}, correction, true); }, {{2, 2, 3}});
  }
  for (int64_t dim : {0, 1, -1}) Check([=](Inputs x) { return cumsum(x[0], dim); }, {{2, 3, 2}});
  Check([](Inputs x) { return lazy::max(x[0], 1).values; }, {{3, 4}});
  Check([](Inputs x) { return lazy::min(x[0], 0, true).values; }, {{3, 4}});
  Check([](Inputs x) { return sort(x[0], 0, true).values; }, {{3, 2}});
  Check([](Inputs x) { return topk(x[0], 2, 1, false).values; }, {{2, 3}});
  Check([](Inputs x) { return roll(x[0], {1, -1}, {0, 1}) + roll(x[0], {2}); }, {{2, 3}});
  for (auto f : {silu, square, lazy::ceil, sign, lazy::round})
    Check([f](Inputs x) { return f(x[0], Where::current()) + x[0]; }, {{3, 2}});
  for (auto f : {reciprocal, lazy::log2, lazy::tan})
    Check([f](Inputs x) { return f(x[0], Where::current()); }, {{3, 2}}, 0.5, 1.2);
  Check([](Inputs x) { return leaky_relu(x[0], 0.2); }, {{3, 2}});
}

TEST(Gradient, OfEinsum) {
  for (const char* equation :
       {"ij,jk->ik", "ij,jk", "ij,jk->kj", "ij,jk->", "ij,jk->ki", "ij,jk->ijk"})
    Check([=](Inputs x) { return einsum(equation, x); }, {{2, 3}, {3, 2}});
  Check([](Inputs x) { return einsum("ii->i", x); }, {{3, 3}});
  Check([](Inputs x) { return einsum("ij->ji", x); }, {{2, 3}});
  Check([](Inputs x) { return einsum("...ij,...jk", x); }, {{2, 2, 3}, {3, 2}});
  Check([](Inputs x) { return einsum("bhid,bhjd,j->bhij", x); }, {{2, 1, 3, 2}, {2, 2, 2, 2}, {2}});
}

TEST(Gradient, OfLosses) {
  const std::vector<int64_t> numbers{2, 0};
  const Tensor target = Tensor::FromHost(std::span(numbers), {2});
  Check([&](Inputs x) { return nll_loss(x[0], target); }, {{2, 3}});
  Check([&](Inputs x) { return cross_entropy(x[0], target); }, {{2, 3}});
  Check([](Inputs x) { return mse_loss(x[0], x[1]); }, {{2, 3}, {2, 3}});
  Check([](Inputs x) { return layer_norm(x[0], x[1], x[2]); }, {{2, 4}, {4}, {4}});
  Check([](Inputs x) { return scaled_dot_product_attention(x[0], x[1], x[2], true); },
        {{2, 3, 2}, {2, 3, 2}, {2, 3, 2}});
  Check([](Inputs x) { return scaled_dot_product_attention(x[0], x[1], x[2], x[3]); },
        {{2, 3, 2}, {2, 3, 2}, {2, 3, 2}, {3, 3}});
  // The last query sees no key.
  const Tensor sees = lt(arange(3) + arange(3).unsqueeze(1), 2);
  Check([=](Inputs x) { return scaled_dot_product_attention(x[0], x[1], x[2], sees); },
        {{2, 3, 2}, {2, 3, 2}, {2, 3, 2}});
}

TEST(Gradient, OfWhatIsUsedTwiceIsTheSum) {
  Tensor x = full({2}, 3).requires_grad_();
  sum(x * x + x).backward();
  EXPECT_EQ(x.grad().to_cpu().values<float>()[0], 7);
  sum(x * 2).backward();  // is added to the existing gradient
  EXPECT_EQ(x.grad().to_cpu().values<float>()[1], 9);
}

TEST(Gradient, IsTakenTwiceIfTheGraphIsRetained) {
  Tensor x = full({2}, 3).requires_grad_();
  const Tensor loss = sum(x * x);
  loss.backward({}, /*retain_graph=*/true);
  loss.backward();
  EXPECT_EQ(Values(x.grad()), (std::vector<float>{12, 12}));
  EXPECT_THROW(loss.backward(), Error);
}

TEST(Gradient, OfAResultOfAnySize) {
  Tensor x = PutDoubles({1, 2}, {2}).requires_grad_();
  const Tensor y = x * x;
  EXPECT_THROW(y.backward(), Error);
  y.backward(PutDoubles({10, 100}, {2}), /*retain_graph=*/true);
  EXPECT_EQ(Values(x.grad()), (std::vector<float>{20, 400}));
  const Tensor held = x.grad();
  y.backward(arange(2));  // is converted
  EXPECT_EQ(Values(held), (std::vector<float>{20, 404}));
  EXPECT_EQ(held.dtype(), DType::kF64);
  x.backward(ones({2}));
  EXPECT_EQ(Values(x.grad()), (std::vector<float>{21, 405}));
}

TEST(Gradient, OfChosenTensors) {
  Tensor x = PutDoubles({1, 2}, {2}).requires_grad_(), other = ones({2}).requires_grad_();
  const Tensor twice = x * 2, square = twice * twice, unused = square * x;
  const std::vector<Tensor> losses{sum(square), sum(twice)};
  std::vector<Tensor> grads = autograd::grad(losses, {twice, x, twice}, {}, /*retain_graph=*/true);
  EXPECT_EQ(Values(grads[0]), (std::vector<float>{5, 9}));
  EXPECT_EQ(Values(grads[1]), (std::vector<float>{10, 18}));
  EXPECT_EQ(Values(grads[2]), (std::vector<float>{5, 9}));
  EXPECT_FALSE(x.grad().defined());
  grads = autograd::grad({square}, {other, x}, {PutDoubles({1, 10}, {2})}, /*retain_graph=*/false,
                         /*allow_unused=*/true);
  EXPECT_FALSE(grads[0].defined());
  EXPECT_EQ(Values(grads[1]), (std::vector<float>{8, 160}));
  EXPECT_EQ(Values(autograd::grad({x}, {x}, {PutDoubles({5, 6}, {2})})[0]),
            (std::vector<float>{5, 6}));
  // What no wanted gradient flows through is not released.
  const Tensor head = sum(x * x), tail = head * head;
  autograd::grad({tail}, {head});
  head.backward();
  EXPECT_EQ(Values(x.grad()), (std::vector<float>{2, 4}));
}

TEST(Gradient, NeedsWhatWasNotOverwritten) {
  Tensor x = full({2}, 3).requires_grad_();
  Tensor y = x * 2;
  const Tensor loss = sum(y * y);
  {
    NoGrad no_grad;
    y.add_(1);
  }
  EXPECT_THROW(loss.backward(), Error);
}

TEST(Gradient, IsNotRecordedUnderNoGrad) {
  Tensor x = full({2}, 3).requires_grad_();
  NoGrad no_grad;
  EXPECT_FALSE((x * 2).requires_grad());
}

}  // namespace
}  // namespace xlaprof::lazy
