// Tests operations where random programs do not go: NaN, nothing, random numbers, errors, and which
// numbers make another graph. The expected values are those of torch 2.9.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/metrics/metrics.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Floats(const std::vector<float>& values, const Dims& sizes) {
  return Tensor::FromHost(std::span<const float>(values), sizes);
}
Tensor Longs(const std::vector<int64_t>& values) {
  return Tensor::FromHost(std::span<const int64_t>(values), {int64_t(values.size())});
}
Tensor Table() { return arange(12, DType::kF32).view({3, 4}); }

TEST(Operations, OfNoNumbers) {
  const Tensor x = Floats({NAN, -INFINITY, INFINITY, -0.f, 2.5f, -2}, {6});
  EXPECT_THAT(Values(isnan(x)), ElementsAre(1, 0, 0, 0, 0, 0));
  EXPECT_THAT(Values(isinf(x)), ElementsAre(0, 1, 1, 0, 0, 0));
  EXPECT_THAT(Values(isfinite(x)), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(Values(sign(x)), ElementsAre(0, -1, 1, 0, 1, -1));
  EXPECT_THAT(Values(round(x.slice(0, 3, 6))), ElementsAre(0, 2, -2));
  EXPECT_THAT(Values(ceil(x.slice(0, 3, 6))), ElementsAre(0, 3, -2));
  EXPECT_THAT(Values(isnan(Longs({1, 2}))), Each(0));
  EXPECT_THAT(Values(isfinite(Longs({1, 2}))), Each(1));
  EXPECT_TRUE(any(x.slice(0, 0, 1)).item());
  EXPECT_EQ(lazy::max(x, 0).indices.item(), 0);
  EXPECT_EQ(lazy::min(x, 0).indices.item(), 0);
  EXPECT_EQ(argmin(x.slice(0, 1, 6), 0).item(), 0);
  EXPECT_TRUE(std::isnan(cumsum(x, 0).select(0, 5).item()));
}

TEST(Operations, OfTheSmallestInteger) {
  const Tensor x = Longs({3, INT64_MIN, INT64_MAX});
  EXPECT_EQ(argmin(x, 0).item(), 1);
  EXPECT_EQ(lazy::min(x, 0).values.to_cpu().Whole(0), INT64_MIN);
}

TEST(Operations, OfNothing) {
  const Tensor none = zeros({2, 0});
  EXPECT_THAT(Values(any(none, {1})), ElementsAre(0, 0));
  EXPECT_THAT(Values(all(none, {1})), ElementsAre(1, 1));
  EXPECT_EQ(all(none).dtype(), DType::kBool);
  EXPECT_THAT(Values(logsumexp(none, 1)), Each(-INFINITY));
  EXPECT_EQ(cumsum(none, 1).sizes(), (Dims{2, 0}));
  EXPECT_THAT(Values(norm(none, 2, {1})), ElementsAre(0, 0));
  EXPECT_THAT(Values(isnan(var(none, {1}))), Each(1));
  EXPECT_THAT(Values(isnan(lazy::std(ones({2, 1}), {1}))), Each(1));
  EXPECT_EQ(chunk(none, 3, 1).size(), 3u);
  EXPECT_EQ(split(none, 2, 1).size(), 1u);
  EXPECT_EQ(roll(none, {1}, {1}).sizes(), (Dims{2, 0}));
  EXPECT_EQ(sort(none).values.sizes(), (Dims{2, 0}));
  EXPECT_EQ(topk(ones({0, 3}), 2).indices.sizes(), (Dims{0, 2}));
  EXPECT_EQ(einsum("ij,jk->ik", std::vector{none, zeros({0, 3})}).sizes(), (Dims{2, 3}));
  EXPECT_EQ(none[Longs({1, 0, 1})].sizes(), (Dims{3, 0}));
}

TEST(Operations, NormsAtZeroHaveNoSlope) {
  for (double p : {2., 1., 3., 1.5, 0., double(INFINITY)}) {
    Tensor x = zeros({3}).requires_grad_();
    norm(x, p).backward();
    if (p == 0) {
      EXPECT_FALSE(x.grad().defined());
    } else {
      EXPECT_THAT(Values(x.grad()), Each(0)) << p;
    }
  }
  Tensor x = ones({3}).requires_grad_();
  lazy::std(x).backward();
  EXPECT_THAT(Values(x.grad()), Each(0));
}

TEST(Operations, SumsOf16BitsDoNotOverflow) {
  const Tensor x = full({4000}, 16, DType::kF16);
  EXPECT_EQ(norm(x).item(), 1012);
  EXPECT_EQ(var(x).item(), 0);
  EXPECT_EQ(norm(x).dtype(), DType::kF16);
}

TEST(Indexing, TakesWhatPyTorchTakes) {
  const Tensor x = Table();
  EXPECT_THAT(Values(x[1]), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Values(x[-1]), ElementsAre(8, 9, 10, 11));
  EXPECT_EQ((x[{2, -3}].item()), 9);
  EXPECT_THAT(Values(x[{Slice{}, 1}]), ElementsAre(1, 5, 9));
  EXPECT_THAT(Values(x[{Ellipsis, Slice{1, -1}}]), ElementsAre(1, 2, 5, 6, 9, 10));
  EXPECT_THAT(Values(x[{Slice{None, None, 2}, 0}]), ElementsAre(0, 8));
  EXPECT_EQ((x[{None, 0, Ellipsis, None}].sizes()), (Dims{1, 4, 1}));
  EXPECT_THAT(Values(x[Longs({2, -3})].select(1, 0)), ElementsAre(8, 0));
  EXPECT_THAT(Values(x[{Longs({0, 2}), Longs({-1, 1})}]), ElementsAre(3, 9));
  EXPECT_EQ((x[{Longs({0, 2}).unsqueeze(1), Longs({3, 1, 2})}].sizes()), (Dims{2, 3}));
  EXPECT_THAT(Values(x[gt(x, 8)]), ElementsAre(9, 10, 11));
  EXPECT_THAT(Values(x[{Slice{}, gt(x[0], 2)}]), ElementsAre(3, 7, 11));
  // Index tensors that are not side by side come first.
  const Tensor y = arange(24).view({2, 3, 4});
  EXPECT_EQ((y[{Longs({0, 1, 1}), Slice{0, 2}, Longs({3, 2, 1})}].sizes()), (Dims{3, 2}));
  EXPECT_EQ((y[{Slice{}, Longs({0, 1, 1}), Longs({3, 2, 1})}].sizes()), (Dims{2, 3}));
  EXPECT_EQ((y[{0, Slice{}, Longs({3, 2, 1, 0, 0})}].sizes()), (Dims{3, 5}));
}

TEST(Indexing, ViewsShareTheStorage) {
  Tensor x = zeros({2, 3});
  x[{1, Slice{1}}].fill_(7);
  x[0].add_(1);
  EXPECT_THAT(Values(x), ElementsAre(1, 1, 1, 0, 7, 7));
  x[Longs({0})].fill_(5);  // a new tensor
  EXPECT_THAT(Values(x), ElementsAre(1, 1, 1, 0, 7, 7));
}

TEST(Indexing, AnExpandedViewThatRepeatsNothingIsWritten) {
  Tensor x = zeros({2, 3});
  x.expand({1, 2, -1}).select(0, 0).fill_(4);
  EXPECT_THAT(Values(x), Each(4));
  EXPECT_THAT(MessageOf([&] { x.expand({2, 2, 3}).fill_(1); }), HasSubstr("share memory"));
}

TEST(Products, OfNoColumnsAreZero) {
  EXPECT_THAT(Values(matmul(zeros({2, 3, 0}), zeros({0, 1}))), Each(0));
  EXPECT_EQ(matmul(zeros({2, 3, 0}), zeros({0, 1})).sizes(), (Dims{2, 3, 1}));
}

TEST(Indexing, AddsBooleans) {
  const Tensor no = zeros({3}, DType::kBool), yes = ones({2}, DType::kBool);
  EXPECT_THAT(Values(scatter_add(no, 0, Longs({1, 1}), yes)), ElementsAre(0, 1, 0));
  EXPECT_THAT(Values(index_add(no, 0, Longs({2, 2}), yes)), ElementsAre(0, 0, 1));
}

TEST(Indexing, Assigns) {
  Tensor x = Table();
  x.index_put_({Longs({0, -1}), 1}, 50);
  x.index_put_({Slice{1, 2}, Slice{2}}, Floats({-1, -2}, {2}));
  x.index_put_(Longs({1, 1}), ones({4}), /*accumulate=*/true);
  x.index_put_({2, 2}, 5.5);
  EXPECT_THAT(Values(x), ElementsAre(0, 50, 2, 3, 6, 7, 1, 0, 8, 50, 5.5, 11));
  x.index_put_({Ellipsis, Longs({3, 0})}, Floats({1, 2, 3}, {3, 1}));
  EXPECT_THAT(Values(x), ElementsAre(1, 50, 2, 1, 2, 7, 1, 2, 3, 50, 5.5, 3));
  x.index_put_(gt(x, 4), Floats({9, 8, 7, 6}, {4}));
  EXPECT_THAT(Values(x), ElementsAre(1, 9, 2, 1, 2, 8, 1, 2, 3, 7, 6, 3));
}

// A mask with one value is where(), so nothing is read and its count does not matter.
TEST(Indexing, AMaskWithOneValueIsNotRead) {
  const int64_t before = counter_value("aten::nonzero").value_or(0);
  Tensor x = Table();
  x.index_put_(gt(x, 8), 0);
  x.index_put_({Slice{}, lt(x[0], 2)}, full({}, -1));
  x.masked_fill_(eq(x, 0), 3);
  EXPECT_EQ(counter_value("aten::nonzero").value_or(0), before);
  EXPECT_THAT(Values(x), ElementsAre(-1, -1, 2, 3, -1, -1, 6, 7, -1, -1, 3, 3));
}

TEST(Indexing, IndicesOutOfRangeBecomeTheNearestInEachDimension) {
  const Tensor x = Table();
  EXPECT_THAT(Values(x[{Longs({0, 5}), Longs({9, -9})}]), ElementsAre(3, 8));
}

TEST(Errors, OfIndexing) {
  Tensor x = Table();
  auto said = [](auto f) { return MessageOf(f); };
  const auto here = HasSubstr("operations_test.cc:");
  EXPECT_THAT(
      said([&] {
        x[{0, 0, 0}];
      }),
      AllOf(HasSubstr("aten::index(f32[3,4]): there are 3 indices for 2 dimensions"), here));
  EXPECT_THAT(said([&] { x[3]; }), AllOf(HasSubstr("index 3 is out of range"), here));
  EXPECT_THAT(said([&] { x[x]; }), AllOf(HasSubstr("has type float32"), here));
  EXPECT_THAT(said([&] { x[{Ellipsis, Ellipsis}]; }), HasSubstr("more than one Ellipsis"));
  EXPECT_THAT(said([&] { x[{Slice{0, 2, -1}}]; }), HasSubstr("a slice has step -1"));
  EXPECT_THAT(said([&] { x[gt(ones({4}), 0)]; }),
              HasSubstr("a mask pred[4] does not have the sizes of dimensions 0 to 0"));
  EXPECT_THAT(said([&] { x[full({}, true, DType::kBool)]; }), HasSubstr("Use where()"));
  EXPECT_THAT(said([&] { x[{Longs({0, 1}), Longs({0, 1, 2})}]; }), HasSubstr("sizes 2 and 3"));
  EXPECT_THAT(said([&] {
                x.index_put_(Longs({0}), Longs({1, 2, 3, 4}));
              }),
              AllOf(HasSubstr("aten::index_put_(f32[3,4], s64[4]): the types differ"), here));
  EXPECT_THAT(said([&] { x.index_put_(Longs({0}), ones({3})); }), here);
  EXPECT_THAT(said([&] { Longs({1}).index_put_(0, 1.5); }), HasSubstr("cannot hold this value"));
  EXPECT_THAT(said([&] { masked_fill(Longs({1}), gt(x, 0), 1.5); }),
              AllOf(HasSubstr("aten::masked_fill(s64[1], 1.5)"), here));
  EXPECT_THAT(said([&] { masked_fill(x, x, 1); }), HasSubstr("the mask has type float32"));
  EXPECT_THAT(said([&] { scatter(x, 0, Longs({0}), Longs({1})); }), HasSubstr("the types differ"));
}

TEST(Errors, OfStatisticsAndParts) {
  const Tensor x = ones({3, 4}), whole = Longs({1, 2, 3});
  auto said = [](auto f) { return MessageOf(f); };
  EXPECT_THAT(said([&] { norm(whole); }), HasSubstr("aten::norm(s64[3]): needs floating-point"));
  EXPECT_THAT(said([&] { var(whole); }), HasSubstr("aten::var(s64[3])"));
  EXPECT_THAT(said([&] { silu(whole); }), HasSubstr("aten::silu(s64[3])"));
  EXPECT_THAT(said([&] { cumsum(x, 2); }), HasSubstr("aten::cumsum(f32[3,4]): dimension 2 is out"));
  EXPECT_THAT(said([&] { split(x, 0); }), HasSubstr("aten::split(f32[3,4]): parts of size 0"));
  EXPECT_THAT(said([&] { split_with_sizes(x, {1, 1}); }), HasSubstr("do not make up size 3"));
  EXPECT_THAT(said([&] { chunk(x, 0); }), HasSubstr("aten::chunk(f32[3,4]): cannot make 0 chunks"));
  EXPECT_THAT(said([&] { roll(x, {1, 2}, {0}); }), HasSubstr("needs a shift for each dimension"));
  EXPECT_THAT(said([&] { sort(x, 2); }), HasSubstr("aten::sort(f32[3,4]): dimension 2 is out"));
  EXPECT_THAT(said([&] { einsum("ij,jk", std::vector{x}); }),
              HasSubstr("aten::einsum(\"ij,jk\", f32[3,4]): there are 2 terms for 1 operands"));
  EXPECT_THAT(said([&] {
                einsum("ij,jk", std::vector{x, x});
              }),
              HasSubstr("'j' has sizes 4 and 3"));
  EXPECT_THAT(said([&] { einsum("i", std::vector{x}); }), HasSubstr("term 1 does not fit 2"));
  EXPECT_THAT(said([&] { einsum("ij->k", std::vector{x}); }), HasSubstr("which is in no term"));
  EXPECT_THAT(said([&] { einsum("ij->ii", std::vector{x}); }), HasSubstr("'i' twice"));
  EXPECT_THAT(said([&] { einsum("i2", std::vector{x}); }), HasSubstr("has something else"));
}

// --- random numbers ---

TEST(RandomNumbers, OfIntegersAreUniform) {
  manual_seed(7);
  for (const auto& [low, high] : {std::pair<int64_t, int64_t>{-3, 3}, {0, 5000}, {-1, 1ll << 40}}) {
    const Tensor x = randint(low, high, {20000});
    EXPECT_EQ(x.dtype(), DType::kI64);
    const HostTensor host = x.to_cpu();
    const auto values = host.values<int64_t>();
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const double range = double(high - low);
    EXPECT_TRUE(*least >= low && *most < high);
    EXPECT_LT(double(*least - low), range / 1000);
    EXPECT_GT(double(*most), double(high) - 1 - range / 1000);
    const double mean = std::accumulate(values.begin(), values.end(), 0.) / 20000;
    EXPECT_NEAR((mean - double(low)) / range, 0.5 - 0.5 / range, 0.01);
  }
  EXPECT_EQ(randint(0, 2, {3}, DType::kI32).dtype(), DType::kI32);
  EXPECT_THAT(MessageOf([] { randint(3, 3, {2}); }), HasSubstr("aten::randint(3, 3)"));
  EXPECT_THAT(MessageOf([] { randint(INT64_MIN, INT64_MAX, {2}); }), HasSubstr("at most 2^48"));
}

TEST(RandomNumbers, PermuteEachInteger) {
  manual_seed(7);
  const std::vector<float> first = Values(randperm(50)), second = Values(randperm(50));
  EXPECT_NE(first, second);
  EXPECT_THAT(Values(sort(randperm(50)).values), Values(arange(50)));
  EXPECT_EQ(randperm(0).sizes(), (Dims{0}));
}

TEST(RandomNumbers, HaveTheirProbabilities) {
  manual_seed(7);
  const Tensor p = Floats({0, 0.2f, 0.7f, 1}, {4, 1}).expand({4, 10000});
  const std::vector<float> means = Values(mean(bernoulli(p), {1}));
  EXPECT_EQ(means[0], 0);
  EXPECT_NEAR(means[1], 0.2, 0.02);
  EXPECT_NEAR(means[2], 0.7, 0.02);
  EXPECT_EQ(means[3], 1);
  const Tensor weights = Floats({1, 0, 3, 0, 6, 2}, {2, 3});
  const Tensor drawn = multinomial(weights, 10000, /*replacement=*/true);
  EXPECT_EQ(drawn.sizes(), (Dims{2, 10000}));
  const std::vector<float> shares = Values(mean(one_hot(drawn, 3).to(DType::kF32), {1}));
  const double expected[] = {0.25, 0, 0.75, 0, 0.75, 0.25};
  for (size_t i = 0; i < 6; ++i) {
    if (expected[i] == 0) {
      EXPECT_EQ(shares[i], 0);
    }
    EXPECT_NEAR(shares[i], expected[i], 0.02);
  }
  const Tensor once = multinomial(Floats({1, 2, 3}, {3}), 3);
  EXPECT_THAT(Values(sort(once).values), ElementsAre(0, 1, 2));
  double first_is_last = 0;
  for (int i = 0; i < 300; ++i) first_is_last += multinomial(Floats({1, 2, 3}, {3}), 1).item() == 2;
  EXPECT_NEAR(first_is_last / 300, 0.5, 0.12);
  EXPECT_THAT(MessageOf([&] { multinomial(weights, 4); }),
              HasSubstr("aten::multinomial(f32[2,3]): cannot draw 4 of 3 classes without"));
}

// --- graphs ---

// Runs a step with each of the numbers. Returns how many graphs were compiled.
template <class F>
int64_t CompiledGraphs(F step) {
  const int64_t before = counter_value("UncachedCompile").value_or(0);
  for (int i = 2; i < 6; ++i) {
    const Tensor kept = step(i);
    mark_step();
    wait_device_ops();
  }
  return counter_value("UncachedCompile").value_or(0) - before;
}

TEST(Graphs, NumbersAreParameters) {
  const Tensor x = Table(), index = Longs({0, 2, 1});
  mark_step();
  EXPECT_EQ(CompiledGraphs([&](int i) { return masked_fill(x, gt(x, i), i * 10); }), 1);
  EXPECT_EQ(CompiledGraphs([&](int i) { return leaky_relu(x, i * 0.1); }), 1);
  EXPECT_EQ(CompiledGraphs([&](int i) { return norm(x, i + 1.5); }), 1);
  EXPECT_EQ(CompiledGraphs([&](int i) { return scatter(x, 1, index.unsqueeze(1), i); }), 1);
  EXPECT_EQ(CompiledGraphs([&](int i) {
              Tensor y = x.clone();
              y.index_put_({Slice{}, index}, i);
              return y.index_put_(gt(y, i), -i);
            }),
            1);
  EXPECT_EQ(CompiledGraphs([&](int i) { return randint(-i, i * 7, {3}); }), 1);
  EXPECT_EQ(CompiledGraphs([&](int i) { return x[index + i * 10]; }), 1);
  EXPECT_EQ(CompiledGraphs([&](int i) { return bernoulli(full({3}, i * 0.1)); }), 1);
}

}  // namespace
}  // namespace xlaprof::lazy
