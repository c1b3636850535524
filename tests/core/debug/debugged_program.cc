// The program that the tests of diagnostics run. `debugged_program PATHOLOGY` runs a few steps of
// the MNIST training with that pathology. `cuts` cuts a graph in each possible way, each at its own
// line. `fails` has a graph that does not compile, and `breaks` one that needs too much memory.
#include <cstdio>
#include <string>

#include "core/ir/error.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/functions.h"
#include "core/trace/loader.h"
#include "core/trace/step.h"
#include "examples/mnist/train.h"
#include "profiler/record/record.h"

namespace xlaprof {
namespace {

using namespace lazy;

struct Trainer {
  nn::Linear layer{4, 2};
  optim::SGD optimizer{layer.parameters(), 0.1};

  Tensor Forward(const Tensor& x) {
    lazy::Trace trace("forward");
    return mean(relu(layer(x)));
  }
  double Step(const Tensor& x, bool reads) {
    optimizer.zero_grad();
    const Tensor loss = Forward(x);
    loss.backward();
    optimizer.step();
    return reads ? loss.item() : 0;
  }
};

void Cuts() {
  Trainer trainer;
  const Tensor x = ones({3, 4});
  for (int i = 0; i < 3; ++i) {
    lazy::StepTrace step("train", i);
    trainer.Step(x, /*reads=*/i == 1);
  }
  for (int i = 0; i < 2; ++i) {
    trainer.Step(x, /*reads=*/false);
    sync();
  }
  int64_t left = 3;
  DeviceLoader loader([&]() -> std::optional<DeviceLoader::HostBatch> {
    if (left-- == 0) return std::nullopt;
    return DeviceLoader::HostBatch{HostTensor{{DType::kF32, {3, 4}}, std::vector<std::byte>(48)}};
  });
  while (auto batch = loader.next()) trainer.Step(batch->front(), /*reads=*/false);
  const Tensor y = x + x;
  unlazy(std::vector{y});
  for (int i = 0; i < 2; ++i) std::printf("%lld\n", static_cast<long long>(nonzero(y).numel()));
  mark_step();
}

class FailingBackend final : public Backend {
 public:
  std::string_view name() const override { return "FAILING"; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(Program) override {
    return Invalid("this backend compiles nothing");
  }
  absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) override {
    return null_->ToDevice(host, std::move(shape));
  }
  absl::Status ToHost(const Buffer& buffer, void* host) override {
    return null_->ToHost(buffer, host);
  }
  int64_t NowNs() override { return null_->NowNs(); }
  int64_t bytes_in_use() const override { return null_->bytes_in_use(); }
  int64_t peak_bytes_in_use() const override { return null_->peak_bytes_in_use(); }

 private:
  const std::unique_ptr<Backend> null_ = MakeNullBackend();
};

void Fails() {
  static Device& device = *new Device("FAILING:0", std::make_unique<FailingBackend>());
  const Tensor x = ones({2}, DType::kF32, device);
  const Tensor y = x + x;
  sync(/*wait=*/true, device);
}

void Breaks() {
  const Tensor x = rand({int64_t(1) << 30, int64_t(1) << 20});
  std::printf("%g\n", sum(x).item());
}

}  // namespace
}  // namespace xlaprof

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "cuts";
  try {
    if (what == "cuts") {
      xlaprof::Cuts();
      return 0;
    }
    if (what == "fails") xlaprof::Fails();
    if (what == "breaks") xlaprof::Breaks();
    const auto result = xlaprof::examples::TrainMnist(
        {.pathology = what == "mnist" ? "" : what, .steps = 5, .batch = 16});
    return result.ok() ? 0 : 2;
  } catch (const xlaprof::lazy::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
