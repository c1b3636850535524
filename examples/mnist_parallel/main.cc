// Trains the network of examples/mnist on several devices: by threads, with nn::DataParallel; by
// processes, with launch(); or as the program of one device whose batches are divided, with
// use_spmd(). All end with the same weights as one device with the whole batch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "core/nn/data_parallel.h"
#include "core/nn/optim.h"
#include "core/trace/collective.h"
#include "core/trace/launch.h"
#include "core/trace/spmd.h"
#include "core/trace/step.h"
#include "examples/mnist/batches.h"
#include "examples/mnist/net.h"
#include "profiler/record/record.h"  // for XLAPROF_RECORD

namespace xlaprof::examples {
namespace {

using namespace lazy;
using Clock = std::chrono::steady_clock;

struct Options {
  int64_t ranks = 4, steps = 200;
  int64_t batch = 64;  // of each rank
  // What one rank does differently, so that the others cannot go on: "uneven_batch", "fewer_steps".
  // Or what is wrong with the data that threads share: "dropped_batches", "empty_epoch".
  char fault[16] = "none";
  uint64_t seed = 1;
};

// Trains as one rank, until the loader has no more batches or the rank has made `steps` steps.
template <class Loader>
void TrainRank(Net& net, optim::Optimizer& optimizer, Loader& loader, int64_t steps) {
  for (int64_t step = 0; step < steps; ++step) {
    const auto batch = loader.next();
    if (!batch) break;
    optimizer.zero_grad();
    nll_loss(net((*batch)[0]), (*batch)[1]).backward();
    optimizer_step(optimizer);
  }
  sync(/*wait=*/true);
}

void Report(const Net& net, int64_t ranks, Clock::duration took, int64_t steps) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  const Digits digits = DrawDigits(1000, 2);  // it has not seen these
  std::vector<int64_t> all(static_cast<size_t>(digits.count()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = int64_t(i);
  const Tensor images = Tensor::FromHost(Images(digits, all));
  const Tensor labels = Tensor::FromHost(Labels(digits, all));
  const Tensor log_probabilities = net(images);
  const double loss = nll_loss(log_probabilities, labels).item();
  const double right = mean(eq(argmax(log_probabilities, 1), labels).to(DType::kF32)).item();
  fmt::print("{} ranks, {} steps: loss {:.4f}, {:.1f} % of held-out digits are read right, "
             "{:.2f} ms a step\n",
             ranks, steps, loss, 100 * right, double(us) / 1000 / double(steps));
}

// Returns how many batches each epoch has for all ranks.
std::vector<int64_t> EpochsOf(const Options& options) {
  const int64_t all = options.steps * options.ranks, too_few = options.ranks - 1;
  if (std::string_view(options.fault) == "empty_epoch") return {all, too_few};
  if (std::string_view(options.fault) != "dropped_batches") return {all};
  // In each epoch, two steps have a batch for each rank.
  return std::vector<int64_t>(size_t(std::max<int64_t>(1, options.steps / 2)),
                              2 * options.ranks + too_few);
}

// Returns the batches of one rank. Rank 1 has the fault, if there is one.
ReadBatch BatchesOf(const Digits& digits, const Options& options, int64_t rank) {
  ReadBatch all = RandomBatches(digits, options.steps * options.ranks, options.batch, options.seed);
  const bool uneven = rank == 1 && std::string_view(options.fault) == "uneven_batch";
  return [all, uneven, rank, ranks = options.ranks, &digits,
          read = int64_t{0}]() mutable -> std::optional<HostBatch> {
    std::optional<HostBatch> own;
    for (int64_t i = 0; i < ranks; ++i) {
      std::optional<HostBatch> batch = all();
      if (i == rank) own = std::move(batch);
    }
    if (own && uneven && ++read == 20) {
      const int64_t few[] = {0, 1, 2};
      own = HostBatch{Images(digits, few), Labels(digits, few)};
    }
    return own;
  };
}

int64_t StepsOf(const Options& options, int64_t rank) {
  return rank == 1 && std::string_view(options.fault) == "fewer_steps" ? options.steps / 2
                                                                       : options.steps;
}

[[noreturn]] void RaiseOfDevices(int64_t ranks, size_t devices) {
  Raise("{0} ranks need {0} devices, but the process has {1}. Set XLAPROF_DEVICES={0}", ranks,
        devices);
}

void ByThreads(const Options& options) {
  const Digits digits = DrawDigits(6000, options.seed);
  nn::manual_seed(options.seed);
  const std::span<Device* const> devices = Device::Supported();
  if (int64_t(devices.size()) < options.ranks) RaiseOfDevices(options.ranks, devices.size());
  nn::DataParallel<Net> parallel(Net(),
                                 {devices.begin(), devices.begin() + ptrdiff_t(options.ranks)});
  const auto begin = Clock::now();
  const auto train = [&](Net& net, PerDeviceLoader& loader, Device& device, nn::Context& context) {
    auto& optimizer = context.Get<optim::SGD>("optimizer", net.parameters(), 0.05, 0.9);
    TrainRank(net, optimizer, loader, StepsOf(options, global_ordinal(device)));
  };
  uint64_t seed = options.seed;
  for (const int64_t batches : EpochsOf(options))
    parallel(train, RandomBatches(digits, batches, options.batch, seed++));
  Report(parallel.models()[0], options.ranks, Clock::now() - begin, options.steps);
}

// Trains one network with the batches of all ranks, whose images each device has a part of.
void BySpmd(const Options& options) {
  use_spmd();
  const Digits digits = DrawDigits(6000, options.seed);
  nn::manual_seed(options.seed);
  const int64_t devices = addressable_runtime_device_count();
  if (devices != options.ranks) RaiseOfDevices(options.ranks, size_t(devices));
  const Mesh mesh = get_1d_mesh("data");
  Net net;
  optim::SGD optimizer(net.parameters(), 0.05, 0.9);
  DeviceLoader loader(
      RandomBatches(digits, options.steps, options.ranks * options.batch, options.seed),
      {{mesh, {"data", None, None, None}}, {mesh, {"data"}}});
  const auto begin = Clock::now();
  TrainRank(net, optimizer, loader, options.steps);
  Report(net, options.ranks, Clock::now() - begin, options.steps);
}

void RankProcess(int64_t rank, Options options) {
  const Digits digits = DrawDigits(6000, options.seed);
  nn::manual_seed(options.seed);
  Net net;
  optim::SGD optimizer(net.parameters(), 0.05, 0.9);
  ParallelLoader loader(BatchesOf(digits, options, rank), {&Device::Default()});
  PerDeviceLoader batches(loader, Device::Default());
  const auto begin = Clock::now();
  TrainRank(net, optimizer, batches, StepsOf(options, rank));
  if (rank == 0) Report(net, world_size(), Clock::now() - begin, options.steps);
}

int Main(int argc, char** argv) {
  Options options;
  std::string by = "threads", fault = "none";
  bool single = false;
  CLI::App app("Trains a network that reads digits on several devices.");
  app.add_option("--by", by, "threads, processes or spmd")
      ->check(CLI::IsMember({"threads", "processes", "spmd"}));
  app.add_option("--ranks", options.ranks, "ranks, each with a batch of its own")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--steps", options.steps, "steps")->check(CLI::Range(1, 1'000'000));
  app.add_option("--batch", options.batch, "digits in a rank's batch")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--fault", fault,
                 "what rank 1 does differently, unless by spmd, or what is wrong with the data of threads")
      ->check(CLI::IsMember(
          {"none", "uneven_batch", "fewer_steps", "dropped_batches", "empty_epoch"}));
  app.add_flag("--debug-single-process", single, "with processes: only one rank, in this process");
  CLI11_PARSE(app, argc, argv);
  if (by != "threads" && (fault == "dropped_batches" || fault == "empty_epoch")) {
    fmt::print(stderr, "--fault {} needs --by threads, whose loader has several devices\n", fault);
    return 1;
  }
  fault.copy(options.fault, sizeof options.fault - 1);
  options.fault[fault.size()] = 0;
  try {
    if (by == "threads")
      ByThreads(options);
    else if (by == "spmd")
      BySpmd(options);
    else
      launch(RankProcess, {.processes = options.ranks, .debug_single_process = single},
             std::tuple(options));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace xlaprof::examples

int main(int argc, char** argv) { return xlaprof::examples::Main(argc, argv); }
