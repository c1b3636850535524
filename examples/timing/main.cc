// timing [--steps N] runs the same training with its steps ended in each possible way, and shows
// what a clock measures. A step that is only recorded seems to take no time, and the first one
// takes long.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/environment.h"
#include "core/metrics/metrics.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/loader.h"

namespace xlaprof::examples {
namespace {

using namespace lazy;

constexpr int64_t kBatch = 64, kPixels = 784, kHidden = 512, kClasses = 10;

double Ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Mlp : nn::Module {
  nn::Linear fc1, fc2;
  explicit Mlp(Device& device) : fc1(kPixels, kHidden, device), fc2(kHidden, kClasses, device) {}
  std::vector<nn::Part> parts() override { return {{"fc1", fc1}, {"fc2", fc2}}; }
  Tensor operator()(const Tensor& x) const { return fc2(relu(fc1(x))); }
};

// A separate device, so that each way begins with nothing compiled, and the training on it. A
// device lives as long as the process.
struct Training {
  Device& device = *new Device("CPU:0", MakeNativeBackend(int(environment().threads)));
  Mlp net{device};
  optim::SGD optimizer{net.parameters(), /*lr=*/0.1};
  Tensor loss;

  void Record(const DeviceLoader::Batch& batch) {
    optimizer.zero_grad();
    loss = cross_entropy(net(batch[0]), batch[1]);
    loss.backward();
    optimizer.step();
  }
};

DeviceLoader::HostBatch MakeBatch() {
  HostTensor images{{DType::kF32, {kBatch, kPixels}}, {}}, classes{{DType::kI64, {kBatch}}, {}};
  images.bytes.resize(size_t(images.shape.bytes()));
  classes.bytes.resize(size_t(classes.shape.bytes()));
  auto* pixels = reinterpret_cast<float*>(images.bytes.data());
  auto* labels = reinterpret_cast<int64_t*>(classes.bytes.data());
  for (int64_t i = 0; i < kBatch * kPixels; ++i) pixels[i] = float(i * 7919 % 1000) / 1000;
  for (int64_t i = 0; i < kBatch; ++i) labels[i] = i % kClasses;
  return {std::move(images), std::move(classes)};
}

const DeviceLoader::HostBatch& HostBatch() {
  static const DeviceLoader::HostBatch& batch = *new DeviceLoader::HostBatch(MakeBatch());
  return batch;
}

struct Way {
  const char* name;
  void (*end)(Training& training);  // ends a step
  bool by_loader = false, leaves_all = false;
};

constexpr Way kWays[] = {
    {"sync(wait)", [](Training& t) { sync(/*wait=*/true, t.device); }},
    {"mark_step()", [](Training& t) { mark_step(t.device); }},
    {"the loader", [](Training&) {}, /*by_loader=*/true},
    {"item(), mark_step()",
     [](Training& t) {
       t.loss.item();
       mark_step(t.device);
     }},
    {"unlazy()",
     [](Training& t) {
       std::vector<Tensor> all = t.net.parameters();
       all.push_back(t.loss);
       unlazy(all);
     }},
    {"item() alone", [](Training& t) { t.loss.item(); }},
    {"nothing", [](Training&) {}, /*by_loader=*/false, /*leaves_all=*/true},
};

// Counts of the metrics so far.
struct Counts {
  int64_t compiles = 0, executions = 0, cuts = 0;
  double compile_ms = 0, execute_ms = 0;

  static Counts Now() {
    auto of = [](const char* metric) {
      return metric_data(metric).value_or(metrics::MetricData());
    };
    const metrics::MetricData compile = of("CompileTime"), execute = of("ExecuteTime");
    return {compile.count, execute.count, of("TensorsGraphSize").count, compile.total / 1e6,
            execute.total / 1e6};
  }
};

// Returns the size of the largest graph cut since `before`, as far as samples are kept.
double LargestGraph(const Counts& before) {
  const metrics::MetricData sizes = metric_data("TensorsGraphSize").value_or(metrics::MetricData());
  const auto some = std::min<int64_t>(sizes.count - before.cuts, int64_t(sizes.samples.size()));
  double largest = 0;
  for (auto sample = sizes.samples.end() - some; sample != sizes.samples.end(); ++sample)
    largest = std::max(largest, sample->value);
  return largest;
}

void Measure(const Way& way, int64_t steps) {
  Training training;
  const Counts before = Counts::Now();
  std::optional<DeviceLoader> loader;
  if (way.by_loader) {
    loader.emplace(
        [left = steps]() mutable { return left-- > 0 ? std::optional(HostBatch()) : std::nullopt; },
        training.device);
  }
  auto batch = [&]() -> std::optional<DeviceLoader::Batch> {
    if (loader) return loader->next();
    const DeviceLoader::HostBatch& host = HostBatch();
    return DeviceLoader::Batch{Tensor::FromHost(host[0], training.device),
                               Tensor::FromHost(host[1], training.device)};
  };
  double recorded_ms = 0;
  auto step = [&](const DeviceLoader::Batch& with) {
    const double begin_ms = Ms();
    training.Record(with);
    recorded_ms += Ms() - begin_ms;
    way.end(training);
  };

  const double first_ms = Ms();
  step(*batch());
  std::optional<DeviceLoader::Batch> next = batch();  // asking the loader for it ends the step
  wait_device_ops(training.device);
  const Counts warm = Counts::Now();
  const double later_ms = Ms();
  recorded_ms = 0;
  for (int64_t i = 1; i < steps; ++i) {
    step(*next);
    next = batch();
  }
  const double loop_ms = Ms() - later_ms;
  // Finishes the work that the loop left undone.
  if (way.leaves_all) training.loss.item();
  wait_device_ops(training.device);
  const double all_ms = Ms() - later_ms;

  const Counts after = Counts::Now();
  const auto each = [&](double ms) { return ms / double(steps - 1); };
  fmt::print("{:<20}{:>9.1f}{:>9.1f}{:>12.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>12}{:>12}{:>9.0f}\n",
             way.name, later_ms - first_ms, warm.compile_ms - before.compile_ms, each(recorded_ms),
             each(loop_ms), each(all_ms), each(after.execute_ms - warm.execute_ms),
             after.compiles - before.compiles, after.executions - before.executions,
             LargestGraph(before));
}

}  // namespace
}  // namespace xlaprof::examples

int main(int argc, char** argv) {
  int64_t steps = 20;
  CLI::App app("What each way to end a step costs, and what a clock shows of it");
  app.add_option("--steps", steps, "of each training")->check(CLI::Range(3, 200));
  CLI11_PARSE(app, argc, argv);
  fmt::print(
      "{:<20}{:>18}{:>42}{:>33}\n{:<20}{:>9}{:>9}{:>12}{:>10}{:>10}{:>10}{:>12}{:>12}{:>9}\n", "",
      "first step, ms", "each later step, ms", fmt::format("in all {} steps", steps),
      "a step ends with", "whole", "compile", "recording", "the loop", "truly", "device",
      "compiles", "executions", "nodes");
  for (const auto& way : xlaprof::examples::kWays) xlaprof::examples::Measure(way, steps);
  return 0;
}
