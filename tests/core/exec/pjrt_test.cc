// Tests the runtime on XLA, if XLAPROF_PJRT_PLUGIN names a plugin: it trains as on the native backend,
// and compiled programs are kept for the next process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/temporary_folder.h"
#include "core/ir/error.h"
#include "core/metrics/metrics.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/collective.h"
#include "core/trace/ranks.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {
namespace {

std::string Plugin() {
  const char* plugin = std::getenv("XLAPROF_PJRT_PLUGIN");
  return plugin != nullptr ? plugin : "";
}

// Makes a device that has compiled nothing yet, like another process.
Device& NewDevice(const std::string& name, bool is_pjrt, int index = 0) {
  if (!is_pjrt) return *new Device(name, MakeNativeBackend(1));
  auto backend = MakePjrtBackend(Plugin(), index);
  if (!backend.ok()) throw std::runtime_error(std::string(Message(backend.status())));
  return *new Device(name, *std::move(backend));
}

class PjrtTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Plugin().empty())
      GTEST_SKIP() << "XLAPROF_PJRT_PLUGIN is not set; scripts/judge pjrt runs this test with XLA";
  }
};

struct Digits : nn::Module {
  nn::Conv2d conv{1, 6, 3};
  nn::Linear fc1{6 * 5 * 5, 32}, fc2{32, 10};
  std::vector<nn::Part> parts() override { return {{"conv", conv}, {"fc1", fc1}, {"fc2", fc2}}; }
  Tensor operator()(const Tensor& x) const {
    const Tensor pooled = relu(max_pool2d(conv(x), 2));
    const Tensor hidden = dropout(relu(fc1(pooled.flatten(1))), 0.25);
    return log_softmax(fc2(hidden), 1);
  }
};

struct Trained {
  std::vector<double> losses;
  double donated = 0;        // arguments that the compiled programs donate
  int64_t bytes_in_use = 0;  // after the last step
};

template <class Optimizer, class... Args>
Trained Train(Device& device, Args... args) {
  const auto donated = [] {
    const auto counts = metric_data("InputOutputAliasCount");
    return counts ? counts->total : 0;
  };
  const double before = donated();
  nn::manual_seed(3);
  Digits net;
  net.to(device);
  device.SetSeed(11);
  const Tensor images = rand({16, 1, 12, 12}, device);
  const Tensor labels = remainder(arange(16, DType::kI64, device), 10);
  sync(true, device);
  Optimizer optimizer(net.parameters(), args...);
  Trained trained;
  for (int step = 0; step < 12; ++step) {
    optimizer.zero_grad();
    const Tensor loss = nll_loss(net(images), labels);
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
    sync(true, device);
    trained.losses.push_back(loss.item());
  }
  trained.donated = donated() - before;
  trained.bytes_in_use = device.backend().bytes_in_use();
  return trained;
}

void ExpectSameTraining(const Trained& native, const Trained& pjrt) {
  for (size_t i = 0; i < native.losses.size(); ++i)
    EXPECT_NEAR(native.losses[i], pjrt.losses[i], 2e-4 * std::abs(native.losses[i]))
        << "step " << i;
  EXPECT_LT(native.losses.back(), native.losses.front());
  EXPECT_GT(native.donated, 0);
  EXPECT_EQ(native.donated, pjrt.donated);
  EXPECT_EQ(native.bytes_in_use, pjrt.bytes_in_use);
}

TEST_F(PjrtTraining, LearnsAsOnTheNativeBackend) {
  ExpectSameTraining(Train<optim::SGD>(NewDevice("CPU:1", false), 0.1, 0.9),
                     Train<optim::SGD>(NewDevice("XLA:1", true), 0.1, 0.9));
}

TEST_F(PjrtTraining, AdamLearnsAsOnTheNativeBackend) {
  ExpectSameTraining(Train<optim::Adam>(NewDevice("CPU:2", false), 0.01),
                     Train<optim::Adam>(NewDevice("XLA:2", true), 0.01));
}

// XLA fuses the normalization with what follows, and computes it more than once. Each window's
// gradient must reach an element all the same, so that the shift's gradient is their sum.
TEST_F(PjrtTraining, AMaximumBehindANormalizationKeepsItsGradient) {
  const auto gradient = [](Device& device) {
    device.SetSeed(5);
    const Tensor x = randn({16, 8, 14, 14}, device), g = randn({16, 8, 7, 7}, device);
    Tensor weight = ones({8}, DType::kF32, device).requires_grad_(),
           bias = zeros({8}, DType::kF32, device).requires_grad_();
    sum(max_pool2d(batch_norm(x, {}, {}, weight, bias, /*training=*/true), 2) * g).backward();
    const HostTensor sums = sum(g, {0, 2, 3}).to_cpu(), got = bias.grad().to_cpu();
    for (int64_t i = 0; i < 8; ++i) EXPECT_NEAR(got.Real(i), sums.Real(i), 1e-3) << device.name();
    const Tensor y = batch_norm(x, {}, {}, weight, bias, /*training=*/true);
    const HostTensor at = argmax(y, 3).to_cpu();
    for (int64_t i = 0; i < at.shape.elements(); ++i) EXPECT_LT(at.Whole(i), 14);
    return got;
  };
  const HostTensor native = gradient(NewDevice("CPU:10", false)),
                   pjrt = gradient(NewDevice("XLA:10", true));
  for (int64_t i = 0; i < 8; ++i) EXPECT_NEAR(native.Real(i), pjrt.Real(i), 1e-3);
}

// A device of the plugin is a device of the runtime like any other.
TEST_F(PjrtTraining, DevicesOfOnePluginExchangeTensors) {
  const auto count = CountPjrtDevices(Plugin());
  ASSERT_TRUE(count.ok()) << count.status();
  if (*count < 2) GTEST_SKIP() << "the plugin has one device";
  Device &first = NewDevice("XLA:3", true, 0), &second = NewDevice("XLA:4", true, 1);
  const std::vector<float> values{1, 2, 3};
  const Tensor a = Tensor::FromHost<float>(values, {3}, first);
  Tensor b = zeros({3}, DType::kF32, second);
  b.copy_(a + a);
  EXPECT_EQ(sum(b * b).item(), 4 + 16 + 36);
  EXPECT_EQ(sum(a).item(), 6);
}

// A read evaluates a graph whose parameters are used again, so nothing is donated.
TEST_F(PjrtTraining, AReadLeavesItsOperands) {
  Device& device = NewDevice("XLA:5", true);
  Tensor x = ones({4, 4}, DType::kF32, device);
  sync(true, device);
  for (int i = 0; i < 3; ++i) {
    x.add_(ones({4, 4}, DType::kF32, device));
    EXPECT_EQ(sum(x).item(), 16 * (i + 2));
    sync(true, device);
    EXPECT_EQ(sum(x).item(), 16 * (i + 2));
  }
}

TEST_F(PjrtTraining, CompiledProgramsAreKept) {
  const auto folder = TemporaryFolder::Make("pjrt-cache-test");
  ASSERT_TRUE(folder.ok());
  const auto count = [](const char* name) { return counter_value(name).value_or(0); };
  const auto run = [&](const char* device_name, bool is_pjrt, int index) {
    Device& device = NewDevice(device_name, is_pjrt, index);
    initialize_cache(folder->path(), /*readonly=*/false, device);
    const int64_t compiled = count("UncachedCompile"), hits = count("PersistentCacheHit"),
                  failed = count("PersistentCacheDeserializeFailure");
    const std::vector<float> values{1, 2, 3};
    const Tensor x = Tensor::FromHost<float>(values, {3}, device);
    EXPECT_EQ(sum(x * x - x).item(), 8);
    return fmt::format("{} compiled, {} hits, {} failures", count("UncachedCompile") - compiled,
                       count("PersistentCacheHit") - hits,
                       count("PersistentCacheDeserializeFailure") - failed);
  };
  EXPECT_EQ(run("XLA:6", true, 0), "1 compiled, 0 hits, 0 failures");
  EXPECT_EQ(run("XLA:7", true, 0), "0 compiled, 1 hits, 0 failures");
  // The same directory holds what the native backend keeps, under another name.
  EXPECT_EQ(run("CPU:7", false, 0), "1 compiled, 0 hits, 0 failures");
  EXPECT_EQ(run("XLA:8", true, 0), "0 compiled, 1 hits, 0 failures");
  const auto devices = CountPjrtDevices(Plugin());
  if (devices.ok() && *devices > 1) {
    EXPECT_EQ(run("XLA:9", true, 1), "0 compiled, 1 hits, 0 failures");
  }
}

// Returns what each of four ranks gets from each collective.
std::vector<std::vector<double>> OfFourRanks(bool is_pjrt) {
  std::vector<Device*> devices;
  for (int i = 0; i < 4; ++i)
    devices.push_back(&NewDevice(fmt::format("rank:{}{}", is_pjrt, i), is_pjrt, i));
  std::vector<std::vector<double>> all(4);
  run_ranks(devices, [&](int64_t rank, Device& device) {
    const std::vector<float> own{float(3 + rank), float(10 * rank), 0.5f, float(7 - rank)};
    const Tensor x = Tensor::FromHost<float>(own, {4}, device);
    std::vector<Tensor> rooted{x.clone()};
    collective_broadcast(rooted, /*root=*/2);
    const Groups pairs{{0, 2}, {3, 1}};
    std::vector<Tensor> results{all_reduce(ReduceOp::kSum, x, 0.25),
                                all_reduce(ReduceOp::kMax, x),
                                all_reduce(ReduceOp::kMul, x, 1, pairs),
                                all_gather(x),
                                all_gather(x, 0, pairs),
                                reduce_scatter(ReduceOp::kSum, x),
                                rooted[0]};
    for (int step = 0; step < 20; ++step) results[0] = all_reduce(ReduceOp::kSum, results[0], 0.25);
    sync(true, device);
    for (const Tensor& result : results) {
      const HostTensor host = result.to_cpu();
      for (float value : host.values<float>()) all[size_t(rank)].push_back(double(value));
    }
  });
  return all;
}

TEST_F(PjrtTraining, RanksExchangeAsOnTheNativeBackend) {
  const auto count = CountPjrtDevices(Plugin());
  ASSERT_TRUE(count.ok()) << count.status();
  if (*count < 4) GTEST_SKIP() << "the plugin has less than four devices";
  const auto native = OfFourRanks(false), pjrt = OfFourRanks(true);
  for (size_t rank = 0; rank < 4; ++rank) {
    ASSERT_EQ(native[rank].size(), 4 + 4 + 4 + 16 + 8 + 1 + 4);
    ASSERT_EQ(native[rank].size(), pjrt[rank].size());
    for (size_t i = 0; i < native[rank].size(); ++i)
      EXPECT_NEAR(native[rank][i], pjrt[rank][i], 1e-5 * std::abs(native[rank][i]))
          << rank << " " << i;
  }
}

// XLA itself would wait for the missing ranks.
TEST_F(PjrtTraining, RanksInOtherGraphsGetAnError) {
  const auto count = CountPjrtDevices(Plugin());
  ASSERT_TRUE(count.ok()) << count.status();
  if (*count < 2) GTEST_SKIP() << "the plugin has one device";
  Device *first = &NewDevice("odd:0", true, 0), *second = &NewDevice("odd:1", true, 1);
  const auto error_of = [](const std::vector<Device*>& devices, int64_t size_of_1) {
    try {
      run_ranks(devices, [&](int64_t rank, Device& device) {
        const Tensor x = full({rank == 1 ? size_of_1 : 4}, 2.0, DType::kF32, device);
        sum(all_reduce(ReduceOp::kSum, x)).item();
      });
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(error_of({first, second}, 4), "none");
  EXPECT_THAT(error_of({first, second}, 5), testing::HasSubstr("f32[5]"));
  EXPECT_THAT(
      error_of({second, first}, 4),
      testing::HasSubstr("Ranks on PJRT are threads of one process, on the plugin's devices in "
                         "their order"));
}

// XLAPROF_DEVICE is read once per process, so each case is a process of its own.
void ExpectNoDevice(const char* plugin, const char* said) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("XLAPROF_DEVICE", "pjrt", 1);
        setenv("XLAPROF_PJRT_PLUGIN", plugin, 1);
        try {
          Device::Default();
        } catch (const Error& error) {
          fmt::print(stderr, "{}", error.what());
        }
        _exit(0);
      },
      testing::ExitedWithCode(0), said);
}

TEST(PjrtDevice, TheErrorSaysWhatIsMissing) {
  const bool is_built =
      Message(CountPjrtDevices("").status()).find("XLAPROF_PJRT_HEADER_DIR") == std::string::npos;
  if (is_built) {
    ExpectNoDevice("",
                   "^Missing XLA configuration: XLAPROF_DEVICE=pjrt: no PJRT plugin is named. Set "
                   "XLAPROF_PJRT_PLUGIN to ");
    ExpectNoDevice("/absent.so", "^Missing XLA configuration: XLAPROF_DEVICE=pjrt: /absent.so: no "
                                 "such file. Set ");
  } else {
    ExpectNoDevice("", "^Missing XLA configuration: XLAPROF_DEVICE=pjrt: .* Configure it with "
                       "-DXLAPROF_PJRT_HEADER_DIR=FOLDER");
  }
}

}  // namespace
}  // namespace xlaprof::lazy
