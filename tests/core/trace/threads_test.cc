// Tests that several threads use one device at the same time, and that each gets what it would have
// got alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/functions.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pointwise;

// Calls f(0), f(1), … at the same time, each on its own thread.
template <class F>
void OnThreads(int count, F&& f) {
  std::latch all(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      all.arrive_and_wait();
      f(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Returns numbers between -1 and 1 that depend on `seed`.
Tensor Numbers(Dims sizes, int64_t seed, Device& device = Device::Default()) {
  std::vector<float> values(size_t(Shape{DType::kF32, sizes}.elements()));
  uint32_t state = uint32_t(seed) * 2654435761u + 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = float(state >> 8) * 0x1p-23f - 1;
  }
  return Tensor::FromHost(std::span<const float>(values), std::move(sizes), device);
}

// A model whose sizes depend on the thread, so that a tensor of another thread is noticed.
struct Model {
  Model(int64_t seed, Device& device)
      : x(Numbers({8, 5 + seed}, seed, device)),
        w1(Numbers({5 + seed, 7}, seed + 10, device).requires_grad_()),
        w2(Numbers({7, 3}, seed + 20, device).requires_grad_()) {}

  Tensor Loss() const { return mean(pow(matmul(tanh(matmul(x, w1)), w2), 2)); }

  Tensor x, w1, w2;
};

// Trains a model and returns its losses, then the sums of its parameters.
std::vector<float> Train(int64_t seed, bool reads, Device& device = Device::Default()) {
  Model model(seed, device);
  optim::SGD optimizer({model.w1, model.w2}, 0.1, 0.9);
  std::vector<Tensor> losses;
  std::vector<float> values;
  for (int step = 0; step < 8; ++step) {
    optimizer.zero_grad();
    const Tensor loss = model.Loss();
    loss.backward();
    optimizer.step();
    losses.push_back(loss.detach());
    if (reads) values.push_back(float(loss.item()));
    mark_step(device);
  }
  if (!reads) {
    for (const Tensor& loss : losses) values.push_back(float(loss.item()));
  }
  for (const Tensor& parameter : {model.w1, model.w2})
    values.push_back(float(sum(parameter).item()));
  return values;
}

TEST(Threads, TrainModelsOnOneDevice) {
  for (bool reads : {false, true}) {
    std::vector<std::vector<float>> alone(3);
    for (int i = 0; i < 3; ++i) alone[size_t(i)] = Train(i, reads);
    for (int round = 0; round < 10; ++round) {
      OnThreads(3, [&](int i) {
        EXPECT_THAT(Train(i, reads), Pointwise(FloatNear(1e-5f), alone[size_t(i)]));
      });
    }
  }
}

TEST(Threads, TrainModelsOnDevicesOfTheirOwn) {
  static Device* const devices[] = {new Device("CPU:11", MakeNativeBackend(1)),
                                    new Device("CPU:12", MakeNativeBackend(1))};
  std::vector<std::vector<float>> alone(2);
  for (int i = 0; i < 2; ++i) alone[size_t(i)] = Train(i, false);
  OnThreads(2, [&](int i) {
    for (int round = 0; round < 10; ++round)
      EXPECT_THAT(Train(i, false, *devices[i]), Pointwise(FloatNear(1e-5f), alone[size_t(i)]));
  });
}

// A step mark of another thread between two writes donates the memory of the first.
TEST(Threads, WritesInPlaceAreKept) {
  OnThreads(4, [](int thread) {
    Tensor x = zeros({4, thread + 1}), kept = zeros({4, thread + 1});
    for (int i = 1; i <= 300; ++i) {
      x.add_(1);
      if (i == 150) kept.copy_(x);
      x.slice(0, 0, 1).mul_(1);
      if (i % 3 == thread % 3) mark_step();
      if (i % 10 == 0) unlazy(std::vector{x});
    }
    EXPECT_THAT(Values(x), Each(300));
    EXPECT_THAT(Values(kept), Each(150));
  });
}

TEST(Threads, ReadTheSameModel) {
  const Model model(1, Device::Default());
  const auto expected = float(model.Loss().item());
  OnThreads(4, [&](int thread) {
    for (int i = 0; i < 100; ++i) {
      EXPECT_NEAR(model.Loss().item(), expected, 1e-5);
      EXPECT_EQ(model.w1.sizes(), Dims({6, 7}));
      if (thread == 0) mark_step();
    }
  });
}

TEST(Threads, CopyBetweenDevices) {
  static Device& other = *new Device("CPU:13", MakeNativeBackend(1));
  OnThreads(3, [](int thread) {
    for (int i = 0; i < 20; ++i) {
      Tensor leaf = full({2}, thread).requires_grad_();
      const Tensor there = (leaf * 2).to(thread == 0 ? Device::Host() : other);
      sum(there * there).backward();
      EXPECT_THAT(Values(leaf.grad()), Each(8 * thread));
      mark_step();
      mark_step(other);
    }
  });
}

TEST(Threads, OneLoadsWhileOthersRecord) {
  OnThreads(3, [](int thread) {
    int made = 0;
    DeviceLoader loader([&]() -> std::optional<DeviceLoader::HostBatch> {
      if (made == 20) return std::nullopt;
      HostTensor host{{DType::kI32, {}}, std::vector<std::byte>(4)};
      const int value = 100 * thread + made++;
      std::memcpy(host.bytes.data(), &value, 4);
      return DeviceLoader::HostBatch{host};
    });
    Tensor total = zeros({}, DType::kI32);
    while (auto batch = loader.next()) total.add_((*batch)[0]);
    EXPECT_EQ(total.item(), 20 * 100 * thread + 190);
  });
}

TEST(Threads, DrawRandomNumbers) {
  OnThreads(3, [](int) {
    for (int i = 0; i < 20; ++i) {
      const Tensor x = rand({10}), y = rand({10});
      if (i % 2 == 0) mark_step();
      EXPECT_THAT(Values(x), Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(1))));
      EXPECT_GT(sum(lazy::abs(x - y)).item(), 0);
    }
  });
}

}  // namespace
}  // namespace xlaprof::lazy
