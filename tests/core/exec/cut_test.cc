// Tests what makes a new graph and what does not, as observed on torch_xla 2.9, how cuts behave, and
// what loaders and observers see of them. The null backend computes nothing, so only the runtime is
// tested.
#include "core/exec/cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "core/metrics/metrics.h"
#include "core/nn/optim.h"
#include "core/trace/functions.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "tests/core/observe/listener.h"

namespace xlaprof::lazy {
namespace {

using ::testing::ElementsAre;

Device& NullDevice() {
  static Device& device = *new Device("NULL:0", MakeNullBackend());
  return device;
}
Tensor Zeros(Dims sizes) { return zeros(std::move(sizes), DType::kF32, NullDevice()); }

// Returns a tensor that is already computed, so its graph does not contain earlier operations.
Tensor Ready(Dims sizes) {
  Tensor tensor = Zeros(std::move(sizes));
  unlazy(std::vector{tensor});
  return tensor;
}

// Returns the number of programs that `f` compiles. Each test computes something different, so that
// no test finds another's programs.
template <class F>
int64_t CompilesIn(F&& f) {
  const int64_t before = counter_value("UncachedCompile").value_or(0);
  f();
  return counter_value("UncachedCompile").value_or(0) - before;
}
void Mark() { sync(/*wait=*/true, NullDevice()); }

TEST(Graph, ScalarsAreParametersButForZeroAndOne) {
  const Tensor x = Ready({7, 1});
  auto times = [&](Scalar factor) {
    return CompilesIn([&] {
      const Tensor y = x * factor;
      Mark();
    });
  };
  EXPECT_EQ(times(0.5), 1);
  EXPECT_EQ(times(0.7), 0);
  EXPECT_EQ(times(2), 0);
  EXPECT_EQ(times(1), 1);
  EXPECT_EQ(times(0), 1);
}

TEST(Graph, NewShapesCompile) {
  auto of = [](int64_t size) {
    const Tensor x = Ready({size, 7, 2});
    return CompilesIn([&] {
      const Tensor y = exp(x);
      Mark();
    });
  };
  EXPECT_EQ(of(8), 1);
  EXPECT_EQ(of(9), 1);
  EXPECT_EQ(of(8), 0);
}

TEST(Graph, LiveTensorsArePartOfIt) {
  const Tensor x = Ready({7, 3});
  auto alive = [&](bool both) {
    return CompilesIn([&] {
      const Tensor a = sin(x);
      Tensor b = cos(x);
      if (!both) b = Tensor();
      Mark();
    });
  };
  EXPECT_EQ(alive(false), 1);
  EXPECT_EQ(alive(true), 1);
  EXPECT_EQ(alive(false), 0);
}

TEST(Graph, OrderOfRootsFollowsTensors) {
  const Tensor x = Ready({7, 4});
  auto made = [&](bool sine_first) {
    return CompilesIn([&] {
      const Tensor a = sine_first ? sin(x) : cos(x), b = sine_first ? cos(x) : sin(x);
      Mark();
    });
  };
  EXPECT_EQ(made(true), 1);
  EXPECT_EQ(made(false), 1);
  EXPECT_EQ(made(true), 0);
}

TEST(Graph, SharingCountsButNotWhichBuffers) {
  const Tensor x = Ready({7, 5}), y = Ready({7, 5});
  auto sum_of = [](const Tensor& a, const Tensor& b) {
    return CompilesIn([&] {
      const Tensor c = a + b;
      Mark();
    });
  };
  EXPECT_EQ(sum_of(x, y), 1);
  EXPECT_EQ(sum_of(y, x), 0);
  EXPECT_EQ(sum_of(x, x), 1);
}

// Overwrites all entries of the table that finds equal nodes, which has a few thousand.
void ForgetNodes() {
  for (int64_t i = 0; i < 400'000; ++i)
    Node::Constant(int64_t(1) << 40 | i, DType::kI64, std::source_location::current());
}

TEST(Graph, ForgottenNodesDoNotRecompile) {
  const NodePtr one = Node::Constant(int64_t(77), DType::kI64, std::source_location::current());
  ForgetNodes();
  ASSERT_NE(one, Node::Constant(int64_t(77), DType::kI64, std::source_location::current()));

  const Tensor x = Ready({7, 20});
  auto step = [&](bool forgets, bool both_alive) {
    return CompilesIn([&] {
      Tensor a = sin(x) + 1;
      if (forgets) ForgetNodes();
      Tensor b = sin(x) + 1;
      const Tensor c = a * b;
      if (!both_alive) a = b = Tensor();
      Mark();
    });
  };
  EXPECT_EQ(step(false, false), 1);
  EXPECT_EQ(step(true, false), 0);
  EXPECT_EQ(step(true, true), 1);
  EXPECT_EQ(step(false, true), 0);
}

TEST(Graph, ReadsInTheMiddleAreGraphsOfTheirOwn) {
  const Tensor x = Ready({7, 6});
  auto step = [&] {
    return CompilesIn([&] {
      const Tensor y = tanh(x);
      sum(y).item();
      const Tensor z = y * y;
      Mark();
    });
  };
  EXPECT_EQ(step(), 2);
  EXPECT_EQ(step(), 0);
}

TEST(Graph, WritesInPlaceDonateAlike) {
  Tensor x = Ready({7, 7}), z = Ready({7, 7});
  const Tensor y = Ready({7, 7});
  auto add = [&](Tensor& to) {
    return CompilesIn([&] {
      to.add_(y);
      Mark();
    });
  };
  EXPECT_EQ(add(x), 1);
  EXPECT_EQ(add(z), 0);
  EXPECT_EQ(metric_data("InputOutputAliasCount")->samples.back().value, 1);
}

TEST(Graph, WhatNobodyHoldsIsNotExecuted) {
  const Tensor x = Ready({7, 8});
  const int64_t before = counter_value("ExecuteComputation").value_or(0);
  EXPECT_EQ(CompilesIn([&] {
              exp(x);
              Mark();
            }),
            0);
  EXPECT_EQ(counter_value("ExecuteComputation").value_or(0), before);
}

TEST(Graph, FallbacksCutEachTime) {
  const Tensor x = Ready({7, 9});
  const int64_t before = counter_value("aten::nonzero").value_or(0);
  auto step = [&] { return CompilesIn([&] { nonzero(exp(x)); }); };
  EXPECT_EQ(step(), 1);
  EXPECT_EQ(step(), 0);
  EXPECT_EQ(counter_value("aten::nonzero").value_or(0), before + 2);
}

TEST(Graph, ChangingLearningRateDoesNotRecompile) {
  Tensor weight = Ready({7, 10}).requires_grad_();
  optim::SGD optimizer({weight}, 0.1);
  auto step = [&](double rate) {
    return CompilesIn([&] {
      optimizer.param_groups[0].lr = rate;
      optimizer.zero_grad();
      sum(weight * weight).backward();
      optimizer.step();
      optimizer.zero_grad();
      Mark();
    });
  };
  EXPECT_EQ(step(0.1), 1);
  EXPECT_EQ(step(0.05), 0);
  EXPECT_EQ(step(0.025), 0);
}

TEST(Cut, NodesThatRunTwiceAreCounted) {
  const Tensor x = Ready({7, 11});
  const int64_t before = counter_value("NodesExecutedAgain").value_or(0);
  const Tensor y = exp(x);
  sum(y).item();
  Mark();
  EXPECT_EQ(counter_value("NodesExecutedAgain").value_or(0), before + 1);
}

TEST(Cut, StepsDoNotEndInsideATrace) {
  Trace trace("train_loop");
  try {
    Mark();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Expecting scope to be empty but it is "
                                                   "train_loop.1"));
  }
}

// An otherwise null backend whose executables fail.
class Failing final : public Backend {
 public:
  std::string_view name() const override { return "FAILING"; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(Program program) override {
    class Broken final : public Executable {
      absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>>,
                                                   const RunContext&) override {
        return absl::InternalError("the device is gone");
      }
      Sizes sizes() const override { return {}; }
      std::span<const Kernel> kernels() const override { return {}; }
    };
    return std::make_unique<Broken>();
  }
  absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) override {
    return null_->ToDevice(host, std::move(shape));
  }
  absl::Status ToHost(const Buffer& buffer, void* host) override {
    return null_->ToHost(buffer, host);
  }
  int64_t NowNs() override { return null_->NowNs(); }
  int64_t bytes_in_use() const override { return 0; }
  int64_t peak_bytes_in_use() const override { return 0; }

 private:
  std::unique_ptr<Backend> null_ = MakeNullBackend();
};

TEST(Cut, ErrorsReachTheNextRead) {
  static Device& device = *new Device("FAILING:0", std::make_unique<Failing>());
  const Tensor x = zeros({3}, DType::kF32, device);
  Tensor y = exp(x);
  mark_step(device);
  y.add_(1);  // depends on the failed value
  mark_step(device);
  try {
    y.to_cpu();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("the device is gone"),
                                               ::testing::HasSubstr("cut_test.cc")));
  }
}

TEST(Cut, ThreadsMayCutOneDevice) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < 50; ++k) {
        const Tensor x = Zeros({7, 12, i + 1});
        (x * 2 + 1).to_cpu();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// All threads find, make and release the same nodes.
TEST(Cut, ThreadsMayRecordTheSame) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 1000; ++round) {
        const Tensor sum = ones({2}) + ones({2});
        EXPECT_EQ((sum * sum).sizes(), Dims({2}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Loader, GivesBatchesInOrderAndMarksSteps) {
  int64_t made = 0;
  DeviceLoader loader(
      [&]() -> std::optional<DeviceLoader::HostBatch> {
        if (made == 20) return std::nullopt;
        HostTensor host{{DType::kI64, {}}, std::vector<std::byte>(8)};
        std::memcpy(host.bytes.data(), &made, 8);
        ++made;
        return DeviceLoader::HostBatch{host};
      },
      Device::Default());
  const int64_t before = counter_value("MarkStep").value_or(0);
  for (int64_t i = 0; i < 20; ++i) {
    auto batch = loader.next();
    ASSERT_TRUE(batch);
    EXPECT_EQ((*batch)[0].item(), double(i));
  }
  EXPECT_FALSE(loader.next());
  EXPECT_EQ(counter_value("MarkStep").value_or(0), before + 21);  // 20 batches and the end
}

TEST(Loader, RaisesWhatReadingRaises) {
  DeviceLoader loader([]() -> std::optional<DeviceLoader::HostBatch> { Raise("no such file"); },
                      NullDevice());
  EXPECT_THROW(loader.next(), Error);
}

// Hears everything except scopes, kernels and waits.
class EventLog final : public Listener {
 public:
  void OnGraph(const observe::Graph& graph) override {
    Hear(fmt::format("graph of {} nodes", graph.nodes.size()));
  }
  void OnCompile(const observe::Compilation& compile) override {
    Hear(fmt::format("compile for {} at line {}", compile.cause, compile.stack.front().line()));
  }
  void OnExecution(const observe::Execution& execution) override {
    Hear(fmt::format("execution for {} on {}", execution.cause, execution.device));
  }
  void OnTransfer(const observe::Transfer& transfer) override {
    Hear(fmt::format("{} bytes {}", transfer.bytes, transfer.to_device ? "there" : "back"));
  }
  void OnFallback(const observe::Fallback& fallback) override {
    Hear(fmt::format("fallback {}", fallback.op));
  }
  void OnStep(const observe::Step& step) override {
    Hear(fmt::format("step {} {}", step.name, step.number.value_or(-1)));
  }
};

TEST(Observer, HearsWhatHappensAndWhere) {
  static EventLog& listener = *new EventLog;
  Mark();
  observe::observer = &listener;
  int line = 0;
  {
    StepTrace step("train", 7, NullDevice());
    const Tensor x = exp(Zeros({7, 13}));
    line = __LINE__ + 1;
    sum(x).item();
  }
  wait_device_ops(NullDevice());
  observe::observer = nullptr;
  EXPECT_THAT(listener.heard,
              ElementsAre("fallback aten::_local_scalar_dense", "graph of 4 nodes",
                          fmt::format("compile for value_access at line {}", line),
                          "execution for value_access on NULL:0", "4 bytes back", "step train 7"));
}

}  // namespace
}  // namespace xlaprof::lazy
