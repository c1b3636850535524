// Ranks that are threads, and the operations in which they take part.
#include "core/trace/ranks.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/metrics/metrics.h"
#include "core/nn/data_parallel.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/collective.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"
#include "tests/core/observe/listener.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<Device*> FourDevices() {
  static const std::vector<Device*>& devices = *[] {
    auto* made = new std::vector<Device*>;
    for (int i = 0; i < 4; ++i)
      made->push_back(new Device(fmt::format("rank:{}", i), MakeNativeBackend(1)));
    return made;
  }();
  return devices;
}

// Calls `fn` as four ranks, and returns what each returned.
std::vector<HostTensor> OfRanks(const std::function<Tensor(int64_t rank, Device&)>& fn) {
  std::vector<HostTensor> values(4);
  run_ranks(FourDevices(), [&](int64_t rank, Device& device) {
    values[size_t(rank)] = fn(rank, device).to_cpu();
  });
  return values;
}

std::vector<float> Values(const HostTensor& host) {
  const auto values = host.values<float>();
  return {values.begin(), values.end()};
}

// Returns the message of the Error that the ranks end with.
std::string ErrorOf(const std::function<void(int64_t rank, Device&)>& fn) {
  try {
    run_ranks(FourDevices(), fn);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// Returns [10 * rank, 10 * rank + 1, ...]. It comes from the host, because the numbers 0 and 1 in
// a graph make it another one.
Tensor OfRank(int64_t rank, int64_t count = 4) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(float(10 * rank + i));
  return Tensor::FromHost(std::span<const float>(values), {count});
}

TEST(Ranks, HaveADeviceEach) {
  std::atomic<int64_t> sum = 0;
  run_ranks(FourDevices(), [&](int64_t rank, Device& device) {
    EXPECT_EQ(&Device::Default(), &device);
    EXPECT_EQ(global_ordinal(), rank);
    EXPECT_EQ(world_size(), 4);
    sum += rank;
  });
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(world_size(*FourDevices()[0]), 1);
}

TEST(Collective, ReducesToTheSameOnAllRanks) {
  for (auto [kind, expected] : {std::pair{ReduceOp::kSum, 64.f},
                                {ReduceOp::kMul, 1.f * 11 * 21 * 31},
                                {ReduceOp::kMin, 1.f},
                                {ReduceOp::kMax, 31.f}}) {
    const auto values =
        OfRanks([&](int64_t rank, Device&) { return all_reduce(kind, OfRank(rank)); });
    for (const HostTensor& value : values) EXPECT_EQ(Values(value)[1], expected);
  }
  const auto means = OfRanks([](int64_t rank, Device&) {
    return all_reduce(ReduceOp::kSum, OfRank(rank), 0.25);
  });
  EXPECT_EQ(Values(means[3]), (std::vector<float>{15, 16, 17, 18}));
}

TEST(Collective, ReducesSixteenBitsInThirtyTwo) {
  const auto values = OfRanks([](int64_t rank, Device&) {
    return all_reduce(ReduceOp::kSum, full({2}, rank == 0 ? 256.0 : 0.5, DType::kBF16))
        .to(DType::kF32);
  });
  EXPECT_EQ(Values(values[2])[0], 258);  // 257.5, which bf16 rounds; adding 0.5 each time stays 256
}

TEST(Collective, GathersAlongADimension) {
  const auto values =
      OfRanks([](int64_t rank, Device&) { return all_gather(OfRank(rank, 2).view({2, 1}), 1); });
  EXPECT_EQ(values[1].shape.dims, Dims({2, 4}));
  EXPECT_EQ(Values(values[1]), (std::vector<float>{0, 10, 20, 30, 1, 11, 21, 31}));
}

TEST(Collective, ScattersAReduction) {
  const auto values = OfRanks([](int64_t rank, Device&) {
    return reduce_scatter(ReduceOp::kSum, OfRank(rank, 8).view({2, 4}), 1, 1);
  });
  EXPECT_EQ(Values(values[0]), (std::vector<float>{60, 76}));
  EXPECT_EQ(Values(values[3]), (std::vector<float>{72, 88}));
}

TEST(Collective, BroadcastsTheRoot) {
  const auto values = OfRanks([](int64_t rank, Device&) {
    std::vector<Tensor> tensors{OfRank(rank), OfRank(rank, 2).to(DType::kI64)};
    collective_broadcast(tensors, 2);
    return tensors[0] + tensors[1].select(0, 0);
  });
  EXPECT_EQ(Values(values[0]), (std::vector<float>{40, 41, 42, 43}));
}

TEST(Collective, KeepsToGroups) {
  const Groups pairs{{0, 2}, {3, 1}};
  const auto sums = OfRanks([&](int64_t rank, Device&) {
    return all_reduce(ReduceOp::kSum, OfRank(rank), 1, pairs);
  });
  EXPECT_EQ(Values(sums[0])[0], 20);
  EXPECT_EQ(Values(sums[1])[0], 40);
  const auto gathered = OfRanks([&](int64_t rank, Device&) {
    return all_gather(OfRank(rank, 1), 0, pairs);
  });
  EXPECT_EQ(Values(gathered[1]), (std::vector<float>{30, 10}));
}

TEST(Collective, PassesGradientsOn) {
  const auto grads = OfRanks([](int64_t rank, Device&) {
    Tensor x = OfRank(rank, 2);
    x = x.detach().requires_grad_();
    const Tensor weight = OfRank(rank, 1);
    sum(all_reduce(ReduceOp::kSum, x) * weight).backward();
    return x.grad();
  });
  EXPECT_EQ(Values(grads[0]), (std::vector<float>{60, 60}));  // 0 + 10 + 20 + 30
}

TEST(Collective, IsNothingForOneRank) {
  const Tensor x = arange(3).to(DType::kF32);
  EXPECT_EQ(Values((all_reduce(ReduceOp::kSum, x, 2)).to_cpu()), (std::vector<float>{0, 2, 4}));
  EXPECT_EQ(all_gather(x).sizes(), Dims({3}));
}

TEST(Ranks, SayWhichGraphsDiffer) {
  const std::string error = ErrorOf([](int64_t rank, Device&) {
    for (int step = 0; step < 5; ++step) {
      // Rank 1 has another batch from step 3 on.
      Tensor sum = all_reduce(ReduceOp::kSum, zeros({rank == 1 && step == 3 ? 3 : 4}) + 0.5);
      sync();
    }
  });
  EXPECT_THAT(error, AllOf(HasSubstr("the ranks run different graphs: rank 0 is at "
                                     "xla::all_reduce of f32[4] to f32[4] in graph SyncTensorsGraph."),
                           HasSubstr("after 3 steps, and rank 1 is at xla::all_reduce of f32[3] to f32[3]")));
}

// A rank's own number may be 0 or 1, which are not baked into the graphs of ranks.
TEST(Ranks, MayHaveTheNumbersZeroAndOne) {
  const auto sums = OfRanks([](int64_t rank, Device&) {
    return all_reduce(ReduceOp::kSum, full({2}, double(rank)) * double(rank));
  });
  for (const HostTensor& value : sums) EXPECT_EQ(Values(value)[0], 0 + 1 + 4 + 9);
}

TEST(Ranks, SayWhichInputsAreMissing) {
  const std::string error = ErrorOf([](int64_t rank, Device&) {
    all_reduce(ReduceOp::kSum, rank == 2 ? arange(4, DType::kF32) : OfRank(rank)).to_cpu();
  });
  EXPECT_THAT(error,
              AllOf(HasSubstr("the ranks run different graphs"), Not(HasSubstr(" is  on rank"))));
}

TEST(Ranks, RaiseAnErrorForWhatIsNoException) {
  EXPECT_THAT(ErrorOf([](int64_t rank, Device&) {
                if (rank == 1) throw 5;
              }),
              AllOf(HasSubstr("run_ranks: rank 1 failed: it raised what is not a std::exception"),
                    HasSubstr("ranks_test.cc:")));
}

// The rank that hangs here returns when the message has been printed.
TEST(Ranks, PrintTheErrorBeforeTheyWaitForARankThatHangs) {
  testing::internal::CaptureStderr();
  const auto begin = std::chrono::steady_clock::now();
  const std::string error = ErrorOf([&](int64_t rank, Device&) {
    if (rank == 3) Raise("the data is gone");
    if (rank == 2) std::this_thread::sleep_until(begin + std::chrono::milliseconds(2'500));
  });
  EXPECT_EQ(error, "the data is gone");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("run_ranks: rank 3 failed: the data is gone\n  at "),
                    HasSubstr("run_ranks waits for rank 2, whose function has not returned")));
}

TEST(Ranks, SayWhoMadeFewerSteps) {
  const std::string error = ErrorOf([](int64_t rank, Device&) {
    for (int step = 0; step < (rank == 2 ? 4 : 6); ++step) {
      Tensor sum = all_reduce(ReduceOp::kSum, zeros({4}) + 0.5);
      sync();
    }
  });
  EXPECT_THAT(error, AllOf(HasSubstr("rank 2 ended after 4 steps, but rank "),
                           HasSubstr("waits for it after 4 steps, at xla::all_reduce of f32[4]")));
}

TEST(Ranks, PassOnTheErrorOfOne) {
  std::atomic<int> others = 0;
  const std::string error = ErrorOf([&](int64_t rank, Device&) {
    try {
      for (int step = 0; step < 1000; ++step) {
        if (rank == 3 && step == 2) Raise("the data is gone");
        Tensor sum = all_reduce(ReduceOp::kSum, zeros({4}) + 0.5);
        sync(/*wait=*/true);
      }
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with("rank 3 failed: the data is gone")) ++others;
      throw;
    }
  });
  EXPECT_EQ(error, "the data is gone");
  EXPECT_EQ(others, 3);
}

struct Net : nn::Module {
  nn::Linear hidden{8, 16, Device::Host()}, out{16, 1, Device::Host()};
  std::vector<nn::Part> parts() override { return {{"hidden", hidden}, {"out", out}}; }
  Tensor operator()(const Tensor& x) const { return out(tanh(hidden(x))); }
};

HostTensor Rows(int64_t first, int64_t count) {
  HostTensor rows{{DType::kF32, {count, 8}}, std::vector<std::byte>(size_t(count * 8 * 4))};
  auto* values = reinterpret_cast<float*>(rows.bytes.data());
  for (int64_t i = 0; i < count * 8; ++i) values[i] = float((first * 8 + i) % 17) / 17 - 0.5f;
  return rows;
}

void TrainLoop(Net& net, PerDeviceLoader& loader, Device&, nn::Context& context) {
  auto& optimizer = context.Get<optim::SGD>("optimizer", net.parameters(), 0.1);
  while (auto batch = loader.next()) {
    optimizer.zero_grad();
    const Tensor error = net((*batch)[0]) - 0.25;
    mean(error * error).backward();
    optimizer_step(optimizer);
  }
}

// Returns batches of `rows` rows that together have `all` rows.
ReadBatch Batches(int64_t rows, int64_t all) {
  auto next = std::make_shared<int64_t>(0);
  return [=]() -> std::optional<HostBatch> {
    if (*next >= all) return std::nullopt;
    *next += rows;
    return HostBatch{Rows(*next - rows, rows)};
  };
}

std::vector<float> Weights(Net& net) { return Values(net.hidden.weight.to_cpu()); }

TEST(DataParallel, TrainsAsOneDeviceWithTheWholeBatch) {
  nn::manual_seed(1);
  Net net;
  nn::DataParallel<Net> four(net, FourDevices()), one(net, {FourDevices()[0]});
  for (int epoch = 0; epoch < 2; ++epoch) {
    four(TrainLoop, Batches(4, 64));
    one(TrainLoop, Batches(16, 64));
  }
  const std::vector<float> alone = Weights(one.models()[0]);
  EXPECT_THAT(Weights(four.models()[0]), testing::Pointwise(testing::FloatNear(1e-6), alone));
  for (Net& model : four.models()) EXPECT_EQ(Weights(model), Weights(four.models()[0]));
  EXPECT_NE(Weights(net), alone);
}

TEST(DataParallel, WithoutDevicesRunsEachOperationAtOnce) {
  nn::manual_seed(1);
  Net net;
  nn::DataParallel<Net> eager(net, {}), one(net, {FourDevices()[0]});
  int64_t executions = 0;
  eager(
      [&](Net& model, PerDeviceLoader& loader, Device& device, nn::Context& context) {
        EXPECT_TRUE(device.is_host());
        const Tensor x = zeros({2}, DType::kF32, device);
        const int64_t before = *counter_value("ExecuteComputation");
        const Tensor y = exp(x);
        executions = *counter_value("ExecuteComputation") - before;
        TrainLoop(model, loader, device, context);
      },
      Batches(4, 16));
  one(TrainLoop, Batches(4, 16));
  EXPECT_EQ(executions, 1);
  EXPECT_THAT(Weights(eager.models()[0]),
              testing::Pointwise(testing::FloatNear(1e-6), Weights(one.models()[0])));
}

TEST(ParallelLoader, DropsWhatDoesNotSufficeForAll) {
  struct Ends final : Listener {
    void OnLoaderEnd(const observe::LoaderEnd& end) override {
      Hear(fmt::format("{} devices, {} batches, {} dropped, line {}", end.devices, end.batches,
                       end.dropped, end.stack.front().line()));
    }
  };
  static Ends& listener = *new Ends;
  observe::observer = &listener;
  const int64_t counted = counter_value("ParallelLoaderDroppedBatches").value_or(0);
  ParallelLoader loader(Batches(1, 10), FourDevices());
  const int line = __LINE__ - 1;
  std::vector<int> batches(4);
  run_ranks(FourDevices(), [&](int64_t rank, Device& device) {
    while (loader.next(device)) ++batches[size_t(rank)];
  });
  observe::observer = nullptr;
  EXPECT_EQ(batches, (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(loader.dropped(), 2);
  EXPECT_EQ(counter_value("ParallelLoaderDroppedBatches").value_or(0) - counted, 2);
  EXPECT_THAT(listener.heard,
              testing::ElementsAre(fmt::format("4 devices, 10 batches, 2 dropped, line {}", line)))
      << "only the first device that asks in vain announces the end";
}

TEST(ParallelLoader, RaisesOnAllDevicesWhatTheReaderRaised) {
  ParallelLoader loader([]() -> std::optional<HostBatch> { Raise("the disk is gone"); },
                        FourDevices());
  std::atomic<int> raised = 0;
  run_ranks(FourDevices(), [&](int64_t, Device& device) {
    try {
      loader.next(device);
    } catch (const Error&) {
      ++raised;
    }
  });
  EXPECT_EQ(raised, 4);
}

}  // namespace
}  // namespace xlaprof::lazy
