// Tests XLA_USE_BF16 and similar variables: a tensor has one type for the user, and another on the
// device.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "core/nn/nn.h"
#include "core/nn/optim.h"

namespace xlaprof::lazy {
namespace {

// Checks the text that `f` returns with `variable` set. The environment is read once, so `f` runs
// in a process of its own.
template <class F>
void ExpectWith(const char* variable, F&& f, const char* said) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv(variable, "1", 1);
        fmt::print(stderr, "{}.", f());
        _exit(0);
      },
      testing::ExitedWithCode(0), said);
}

// Returns the logical type, the type of the value that is read, and the value.
std::string Read(const Tensor& tensor) {
  const HostTensor host = tensor.to_cpu();
  return fmt::format("{}, {}, {}", TorchName(tensor.dtype()), TorchName(host.shape.dtype),
                     host.Real(0));
}

TEST(KeptTypes, AreTheLogicalOnesByDefault) {
  EXPECT_EQ(Read(full({3}, 4096) + 1), "float32, float32, 4097");
  EXPECT_EQ(Read(full({}, int64_t(1) << 32, DType::kI64) + 1), "int64, int64, 4294967297");
}

TEST(KeptTypes, Bf16HasEightBits) {
  const auto sum = [] { return Read(full({3}, 4096) + 1); };
  ExpectWith("XLA_USE_BF16", sum, "^float32, float32, 4096\\.$");
  const auto from_host = [] {
    const std::vector<float> values{257, 1};
    return Read(Tensor::FromHost(std::span(values), {2}));
  };
  ExpectWith("XLA_USE_BF16", from_host, "^float32, float32, 256\\.$");
  const auto wide = [] { return Read(full({3}, 4096, DType::kF64) + 1); };
  ExpectWith("XLA_USE_BF16", wide, "^float64, float64, 4097\\.$");
}

TEST(KeptTypes, F16HasElevenBits) {
  const auto sum = [] { return Read(full({3}, 4096) + 1); };
  ExpectWith("XLA_USE_F16", sum, "^float32, float32, 4096\\.$");
  const auto exact = [] { return Read(full({3}, 2046) + 1); };
  ExpectWith("XLA_USE_F16", exact, "^float32, float32, 2047\\.$");
  const auto large = [] { return Read(full({3}, 65504) * 2); };
  ExpectWith("XLA_USE_F16", large, "^float32, float32, inf\\.$");
}

TEST(KeptTypes, LongMayHave32Bits) {
  const auto sum = [] { return Read(full({}, int64_t(1) << 30, DType::kI64) * 4 + 5); };
  ExpectWith("XLA_USE_32BIT_LONG", sum, "^int64, int64, 5\\.$");
  const auto index = [] { return Read(argmax(arange(5), 0)); };
  ExpectWith("XLA_USE_32BIT_LONG", index, "^int64, int64, 4\\.$");
}

// Regression: argmax returned 64 bits, but all other integer tensors have 32 bits then. The program
// failed at the first operation that combined both.
std::string Mix() {
  const std::vector<int64_t> numbers{0, 1, 2, 3};
  const Tensor x = Tensor::FromHost(std::span(numbers), {4}), table = x.view({2, 2});
  const Tensor most = argmax(x, 0), places = argmax(table, 1);
  Tensor written = x.clone();
  try {
    written.slice(0, 0, 2).copy_(places);
    written.add_(most).mul_(2).sub_(most, 3);
    const std::vector<Tensor> all{
        eq(most, x),
        most + x,
        places * 2,
        maximum(most, 2),
        remainder(x, most),
        clamp(places, 0, 5),
        where(gt(x, 1), x, most),
        cat(std::vector{places, x}),
        stack(std::vector{most, x.select(0, 1)}),
        one_hot(places, 3) + most,
        gather(table, 1, places.unsqueeze(1)) + places,
        index_select(x, 0, places) - most,
        sum(gt(x, 1)) + most,
        sum(places) + nonzero(x).select(1, 0) + topk(x, 1).values + prod(x),
        flip(places, {0}) + pad(places, {0}, {0}),
        written,
        scatter_add(x, 0, places, x.slice(0, 2, 4)),
        most.to(DType::kI32) + arange(4, DType::kI32),
        most.to(DType::kF32) + rand({4}) + randn({4}),
    };
    for (const Tensor& one : all) one.to_cpu();
    return fmt::format("{}, {}, {}", Read(most), Read(cat(std::vector{places, x})), Read(written));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(KeptTypes, WholeNumbersOfAllOperationsMix) {
  constexpr const char* kSaid = "^int64, int64, 3, int64, int64, 1, int64, int64, -1\\.$";
  for (const char* variable : {"XLA_USE_BF16", "XLA_USE_F16", "XLA_USE_32BIT_LONG"})
    ExpectWith(variable, Mix, kSaid);
}

// Every operation of a training step keeps to the type: types that differ on the device raise an
// error.
std::string Train() {
  nn::manual_seed(1);
  manual_seed(1);
  nn::Conv2d conv(1, 4, 3);
  nn::BatchNorm2d norm(4);
  nn::Embedding table(4, 16);
  nn::LayerNorm last(16);
  std::vector<Tensor> all = conv.parameters();
  for (nn::Module* module : std::vector<nn::Module*>{&norm, &table, &last}) {
    for (const Tensor& parameter : module->parameters()) all.push_back(parameter);
  }
  // f16 cannot represent 1e-8.
  optim::Adam optimizer(all, {.lr = 0.02, .eps = 1e-4});
  const Tensor images = rand({4, 1, 6, 6}), classes = arange(4);
  double first = 0, now = 0;
  try {
    for (int step = 0; step < 30; ++step) {
      optimizer.zero_grad();
      const Tensor seen = max_pool2d(relu(norm(conv(images))), 2).flatten(1);
      const Tensor logits = last(seen + table(classes));
      const Tensor loss = cross_entropy(logits.slice(1, 0, 4), classes);
      loss.backward();
      optimizer_step(optimizer, /*barrier=*/true);
      now = loss.item();
      if (step == 0) first = now;
    }
  } catch (const Error& error) {
    return error.what();
  }
  return now < 0.7 * first ? "learns" : fmt::format("the loss went from {} to {}", first, now);
}

TEST(KeptTypes, Train) {
  for (const char* variable : {"XLA_USE_BF16", "XLA_USE_F16", "XLA_USE_32BIT_LONG"})
    ExpectWith(variable, Train, "^learns\\.$");
}

}  // namespace
}  // namespace xlaprof::lazy
