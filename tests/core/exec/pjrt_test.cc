// Tests the runtime on XLA, if XLAPROF_PJRT_PLUGIN names a plugin: it trains as on the native backend,
// and compiled programs are kept for the next process.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/temporary_folder.h"
#include "core/ir/error.h"
#include "core/metrics/metrics.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
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
                   "^XLAPROF_DEVICE=pjrt: no PJRT plugin is named. Set XLAPROF_PJRT_PLUGIN to ");
    ExpectNoDevice("/absent.so", "^XLAPROF_DEVICE=pjrt: /absent.so: no such file. Set ");
  } else {
    ExpectNoDevice("",
                   "^XLAPROF_DEVICE=pjrt: .* Configure it with -DXLAPROF_PJRT_HEADER_DIR=FOLDER");
  }
}

}  // namespace
}  // namespace xlaprof::lazy
