// Tests that operations under Autocast have the types that they have under torch.autocast("cpu")
// of torch 2.9, and that their values are close to those in f32.
#include "core/trace/autocast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "core/nn/multihead_attention.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::HasSubstr;

constexpr DType kNarrow = DType::kBF16, kF32 = DType::kF32, kF64 = DType::kF64;

struct CastCase {
  const char* name;
  DType type;
  std::function<Tensor()> f;
};

TEST(Autocast, TypesAreThoseOfTorch) {
  const Tensor x = randn({2, 3, 4}), w = randn({4, 4}), row = randn({4}), channels = ones({3});
  const Tensor b = x.to(kNarrow), logits = b.select(0, 0), classes = arange(3);
  const Tensor images = randn({1, 2, 4, 4}), kernels = randn({3, 2, 3, 3});
  const CastCase cases[] = {
      {"matmul", kNarrow, [&] { return matmul(x, w); }},
      {"matmul of vectors", kNarrow, [&] { return matmul(row, row); }},
      {"matmul of f64", kF64, [&] { return matmul(x.to(kF64), w.to(kF64)); }},
      {"matmul of f16", kNarrow, [&] { return matmul(x.to(DType::kF16), w.to(DType::kF16)); }},
      {"linear", kNarrow, [&] { return linear(x, w, row); }},
      {"conv2d", kNarrow, [&] { return conv2d(images, kernels, channels); }},
      {"attention", kNarrow, [&] { return scaled_dot_product_attention(x, x, x, true); }},
      {"multihead attention", kNarrow, [&] { return nn::MultiheadAttention(4, 2)(x, x, x).first; }},
      {"its weights", kNarrow, [&] { return nn::MultiheadAttention(4, 2)(x, x, x).second; }},
      {"softmax of f32", kF32, [&] { return softmax(x, 1); }},
      {"softmax", kNarrow, [&] { return softmax(b, 1); }},
      {"log_softmax", kNarrow, [&] { return log_softmax(b, 1); }},
      {"logsumexp", kNarrow, [&] { return logsumexp(b, 1); }},
      {"sum", kNarrow, [&] { return sum(b); }},
      {"mean", kNarrow, [&] { return mean(b); }},
      {"amax", kNarrow, [&] { return amax(b); }},
      {"prod", kF32, [&] { return prod(b); }},
      {"prod along a dimension", kF32, [&] { return prod(b, {0}); }},
      {"layer_norm", kNarrow, [&] { return layer_norm(b, row, row); }},
      {"batch_norm", kNarrow,
       [&] { return batch_norm(b, zeros({3}), ones({3}), channels, channels, /*training=*/true); }},
      {"group_norm", kNarrow, [&] { return group_norm(b, 3, channels, channels); }},
      {"group_norm without weights", kNarrow, [&] { return group_norm(b, 3); }},
      {"gelu", kNarrow, [&] { return gelu(b); }},
      {"exp", kNarrow, [&] { return exp(b); }},
      {"a sum of both types", kF32, [&] { return b + x; }},
      {"where", kF32, [&] { return where(gt(x, 0), b, x); }},
      {"cat", kF32,
       [&] {
         return cat(std::vector{b, x});
       }},
      {"stack", kF32,
       [&] {
         return stack(std::vector{b, x});
       }},
      {"embedding", kF32, [&] { return embedding(w, classes); }},
      {"avg_pool2d", kNarrow, [&] { return avg_pool2d(images.to(kNarrow), 2); }},
      {"dropout", kNarrow, [&] { return dropout(b, 0.5); }},
      {"nll_loss", kF32, [&] { return nll_loss(logits, classes); }},
      {"cross_entropy", kF32, [&] { return cross_entropy(logits, classes); }},
      {"mse_loss", kF32, [&] { return mse_loss(b, b); }},
      {"mse_loss of f64", kF64, [&] { return mse_loss(b, x.to(kF64)); }},
  };
  for (const CastCase& one : cases) {
    Autocast autocast;
    const Tensor result = one.f();
    EXPECT_EQ(TorchName(result.dtype()), TorchName(one.type)) << one.name;
    result.to_cpu();  // the program is valid
  }
}

TEST(Autocast, HoldsForItsScopeAndThread) {
  const Tensor w = ones({2, 2});
  const auto type = [&] { return matmul(w, w).dtype(); };
  {
    Autocast autocast;
    EXPECT_EQ(type(), kNarrow);
    {
      Autocast half(DType::kF16);
      EXPECT_EQ(type(), DType::kF16);
      Autocast off(kNarrow, /*enabled=*/false);
      EXPECT_EQ(type(), kF32);
    }
    EXPECT_EQ(type(), kNarrow);
    std::thread([&] { EXPECT_EQ(type(), kF32); }).join();
  }
  EXPECT_EQ(type(), kF32);
  EXPECT_THAT(MessageOf([] { Autocast autocast(kF64); }),
              HasSubstr("Autocast(float64): only bfloat16 and float16 are possible"));
}

// The weights stay f32, and so do their gradients, also if they are computed inside.
TEST(Autocast, TrainsInF32) {
  nn::manual_seed(1);
  nn::Linear fc1(8, 16), fc2(16, 4);
  const Tensor x = rand({16, 8}), classes = remainder(arange(16), 4);
  std::vector<Tensor> parameters = fc1.parameters();
  for (const Tensor& parameter : fc2.parameters()) parameters.push_back(parameter);
  const auto backward = [&] {
    for (Tensor& parameter : parameters) parameter.zero_grad();
    const Tensor loss = cross_entropy(fc2(relu(fc1(x))), classes);
    loss.backward();
    EXPECT_EQ(loss.dtype(), kF32);
    return loss.item();
  };
  const double expected = backward();
  const std::vector<float> grad = Values(fc1.weight.grad());
  double loss = 0;
  {
    Autocast autocast;
    loss = backward();
  }
  EXPECT_NE(loss, expected);
  EXPECT_NEAR(loss, expected, 0.01);
  EXPECT_EQ(fc1.weight.grad().dtype(), kF32);
  EXPECT_THAT(Values(fc1.weight.grad()), ::testing::Pointwise(::testing::FloatNear(2e-3f), grad));
  optim::AdamW optimizer(parameters, 0.01);
  double last = 0;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    Tensor now;
    {
      Autocast autocast;
      now = cross_entropy(fc2(relu(fc1(x))), classes);
    }
    now.backward();
    optimizer_step(optimizer, /*barrier=*/true);
    last = now.item();
  }
  EXPECT_LT(last, expected);
}

// Rounding each exponential to bf16 would make the sum differ from 1 by more.
TEST(Softmax, OfNarrowTypesIsComputedInF32) {
  const Tensor x = randn({4, 1000}).to(kNarrow);
  const std::vector<float> narrow = Values(softmax(x, 1)), exact = Values(softmax(x.to(kF32), 1));
  for (size_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(narrow[i], float(BFloat16(exact[i]))) << i;
  EXPECT_EQ(Values(logsumexp(x, 1))[0], float(BFloat16(Values(logsumexp(x.to(kF32), 1))[0])));
  EXPECT_EQ(logsumexp(arange(3), 0).dtype(), kF32);
}

}  // namespace
}  // namespace xlaprof::lazy
