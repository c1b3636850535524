#include "examples/mnist/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "core/nn/clip_grad.h"
#include "core/nn/optim.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "examples/mnist/batches.h"
#include "examples/mnist/net.h"

namespace xlaprof::examples {

using namespace lazy;

namespace {

constexpr Pathology kPathologies[] = {
    {"changing_batch", "batches of changing size"},
    {"baked_scalar", "a number of the step is baked into the graph"},
    {"loop_index", "a slice whose place depends on the step"},
    {"loop_count", "a loop that runs more often in some steps"},
    {"nonzero", "nonzero(): its size depends on values"},
    {"mask", "masked_select(): its size depends on values"},
    {"item", "item() in each step"},
    {"print", "print() in each step"},
    {"clip_norm", "gradients are clipped by norms that the host reads"},
    {"slow_loader", "the data comes too slowly"},
    {"host_work", "the host computes while the device waits"},
    {"live_tensor", "other tensors are alive at each step mark"},
    {"unlowered_op", "an operation without a lowering"},
    {"tied_weights", "weights are tied before their model is moved to the device"},
    {"no_mark_step", "no step is ever marked (a tenth of the steps: each takes longer)"},
};

using Clock = std::chrono::steady_clock;

// This is longer than a step takes on a slow machine.
constexpr auto kLong = std::chrono::milliseconds(100);

// Returns numbers from 0 up that grow by one, more and more rarely. The last quarter of a run of
// any length still has new ones, and none is large.
int64_t MoreSeldom(int64_t step, double slowly) {
  return int64_t(slowly * std::log1p(double(step) / slowly));
}

// A second model, which learns to reproduce its input, with one weight for both directions.
struct Mirror : nn::Module {
  nn::Linear there{50, 50, Device::Host()}, back{50, 50, Device::Host()};

  Mirror() { back.weight = there.weight; }
  Tensor Loss(const Tensor& x) const { return mse_loss(back(relu(there(x))), x); }
  std::vector<nn::Part> parts() override { return {{"there", there}, {"back", back}}; }
};

class Training {
 public:
  explicit Training(const MnistOptions& options) : options_(options) {}

  absl::StatusOr<MnistResult> Run() {
    XP_TRY(train_, options_.data.empty() ? DrawDigits(6000, options_.seed)
                                         : ReadDigits(options_.data, /*held_out=*/false));
    XP_TRY(held_out_, options_.data.empty() ? DrawDigits(1000, options_.seed + 1)
                                            : ReadDigits(options_.data, /*held_out=*/true));
    nn::manual_seed(options_.seed);
    Net net;
    std::vector<Tensor> parameters = net.parameters();
    std::optional<Mirror> mirror;
    if (Is("tied_weights")) {
      mirror.emplace();
      mirror->to(Device::Default());
      for (const Tensor& parameter : mirror->parameters()) parameters.push_back(parameter);
    }
    if (Is("loop_index")) schedule_ = arange(options_.steps, DType::kF32);
    optim::SGD optimizer(parameters, /*lr=*/0.05, /*momentum=*/0.9);
    Tensor loss;
    const auto begin = Clock::now();
    auto step = [&](int64_t number, const DeviceLoader::Batch& batch) {
      optimizer.zero_grad();
      std::vector<Tensor> layers;
      const Tensor output = net(batch[0], &layers);
      loss = nll_loss(output, batch[1]);
      Misbehave(number, output, loss, layers);
      if (mirror) loss = loss + mirror->Loss(layers.back().detach());
      loss.backward();
      if (Is("clip_norm")) Clip(parameters);
      optimizer_step(optimizer);
      if (options_.progress) options_.progress(number + 1);
    };
    if (Is("no_mark_step")) {
      for (int64_t number = 0; number < std::max<int64_t>(1, options_.steps / 10); ++number) {
        const DeviceLoader::HostBatch batch = *NextBatch();
        step(number, {Tensor::FromHost(batch[0]), Tensor::FromHost(batch[1])});
        loss.item();
      }
    } else {
      DeviceLoader loader([this] { return NextBatch(); });
      for (int64_t number = 0; auto batch = loader.next(); ++number) step(number, *batch);
    }
    MnistResult result{.loss = loss.defined() ? loss.item() : 0};
    result.steps_ns = std::chrono::nanoseconds(Clock::now() - begin).count();
    result.accuracy = Accuracy(net);
    return result;
  }

 private:
  bool Is(std::string_view pathology) const { return options_.pathology == pathology; }

  // Returns the next batch, on the loader's thread.
  std::optional<DeviceLoader::HostBatch> NextBatch() {
    if (read_ == options_.steps) return std::nullopt;
    int64_t size = options_.batch;
    // On average, the batches are as large as those of the clean program.
    if (Is("changing_batch")) size = 1 + int64_t(random_() % uint64_t(2 * size - 1));
    if (Is("slow_loader")) std::this_thread::sleep_for(kLong);
    std::vector<int64_t> which(static_cast<size_t>(size));
    for (int64_t& i : which) i = int64_t(random_() % uint64_t(train_.count()));
    ++read_;
    return DeviceLoader::HostBatch{Images(train_, which), Labels(train_, which)};
  }

  // Does what the pathology does in each step, beside the training.
  void Misbehave(int64_t step, const Tensor& output, const Tensor& loss,
                 const std::vector<Tensor>& layers) {
    if (options_.repaired) step = options_.steps / 3;
    if (Is("baked_scalar")) {
      kept_ = {mean(pad(output, {0, 0}, {0, 1}, 0.01 * double(step)))};
    } else if (Is("loop_index")) {
      kept_ = {loss.detach() * schedule_.select(0, step)};
    } else if (Is("loop_count")) {
      Tensor sum = mean(output);
      for (int64_t i = 0; i < MoreSeldom(step, 12); ++i) sum = sum * 0.5 + mean(output);
      kept_ = {sum};
    } else if (Is("nonzero")) {
      kept_ = {nonzero(gt(output, -1))};
    } else if (Is("mask")) {
      kept_ = {masked_select(output, gt(output, -1))};
    } else if (Is("item")) {
      last_loss_ = loss.item();
    } else if (Is("print")) {
      loss.print();
    } else if (Is("host_work")) {
      Work();
    } else if (Is("live_tensor")) {
      kept_.clear();
      for (size_t i = 0; i < layers.size(); ++i) {
        if ((MoreSeldom(step, 4) >> i & 1) != 0) kept_.push_back(layers[i]);
      }
    } else if (Is("unlowered_op")) {
      kept_ = {histc(output, 10, -10, 0)};
    }
  }

  // Limits the gradients. The repaired program decides on the device.
  void Clip(std::span<const Tensor> parameters) const {
    constexpr double kMost = 1;
    if (options_.repaired) {
      nn::clip_grad_norm_(parameters, kMost);
      return;
    }
    double squares = 0;
    for (const Tensor& parameter : parameters)
      squares += sum(parameter.grad() * parameter.grad()).item();
    const double factor = kMost / (std::sqrt(squares) + 1e-6);
    if (factor >= 1) return;
    NoGrad no_grad;
    for (const Tensor& parameter : parameters) parameter.grad().mul_(factor);
  }

  // Works while the device is idle, at least twice as long as the step took host and device. So
  // most of the time is spent here on a machine of any speed.
  void Work() {
    wait_device_ops();
    const Trace named("work on the host");
    const auto begin = Clock::now();
    auto until = begin + kLong;
    if (worked_) until = std::max(until, begin + 2 * (begin - *worked_));
    while (Clock::now() < until) last_loss_ += 1e-9;
    worked_ = Clock::now();
  }

  double Accuracy(const Net& net) const {
    NoGrad no_grad;
    std::vector<int64_t> all(size_t(held_out_.count()));
    std::iota(all.begin(), all.end(), 0);
    int64_t right = 0;
    for (size_t from = 0; from < all.size(); from += 500) {
      const std::span which =
          std::span(all).subspan(from, std::min<size_t>(500, all.size() - from));
      const Tensor images = Tensor::FromHost(Images(held_out_, which));
      const Tensor labels = Tensor::FromHost(Labels(held_out_, which));
      right += int64_t(sum(eq(argmax(net(images), 1), labels)).item());
    }
    return double(right) / double(all.size());
  }

  const MnistOptions& options_;
  Digits train_, held_out_;
  std::mt19937_64 random_{7};
  int64_t read_ = 0;
  std::vector<Tensor> kept_;
  Tensor schedule_;  // one number per step
  double last_loss_ = 0;
  std::optional<Clock::time_point> worked_;  // when Work ended in the previous step
};

}  // namespace

std::span<const Pathology> Pathologies() { return kPathologies; }

absl::StatusOr<MnistResult> TrainMnist(const MnistOptions& options) {
  const auto known = [&](const Pathology& pathology) {
    return pathology.name == options.pathology;
  };
  if (!options.pathology.empty() &&
      std::none_of(std::begin(kPathologies), std::end(kPathologies), known)) {
    std::string names;
    for (const Pathology& pathology : kPathologies)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", pathology.name);
    return Invalid("there is no pathology {}. There are {}", options.pathology, names);
  }
  return Training(options).Run();
}

}  // namespace xlaprof::examples
