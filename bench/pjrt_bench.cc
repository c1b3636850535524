// pjrt_bench PLUGIN compares training steps of the lazy runtime on the backend pjrt with bare calls of
// PJRT, which execute the same StableHLO with the same client. It prints JSON with medians in
// microseconds. Steps of both alternate, so that disturbances of the machine affect both.
//
// `step` waits for each step. `row` is a step of several that are only waited for together, so that
// the runtime records a step while the device computes the previous one.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "core/backend/pjrt/device.h"
#include "core/exec/device.h"
#include "core/ir/stablehlo.h"
#include "core/nn/optim.h"
#include "examples/mnist/net.h"

namespace xlaprof::lazy {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + int64_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Ends the program with the error, because a benchmark has nothing to say then.
void Require(const absl::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "pjrt_bench: {}\n", Message(status));
  std::exit(2);
}
template <class T>
T Require(absl::StatusOr<T> value) {
  Require(value.status());
  return *std::move(value);
}

// Passes everything to the backend pjrt, and keeps what it compiles and the last arguments.
class Watched final : public Backend {
 public:
  explicit Watched(const std::string& plugin) : pjrt_(Require(MakePjrtBackend(plugin))) {}

  // The program that was compiled last, and the values of its last arguments.
  Program program;
  std::vector<std::string> arguments;
  bool keep_arguments = false;

  std::string_view name() const override { return pjrt_->name(); }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(Program compiled) override {
    program = compiled;
    XP_TRY(auto executable, pjrt_->Compile(std::move(compiled)));
    return std::make_unique<WatchedExecutable>(*this, std::move(executable));
  }
  absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) override {
    return pjrt_->ToDevice(host, std::move(shape));
  }
  absl::Status ToHost(const Buffer& buffer, void* host) override {
    return pjrt_->ToHost(buffer, host);
  }
  int64_t NowNs() override { return pjrt_->NowNs(); }
  int64_t bytes_in_use() const override { return pjrt_->bytes_in_use(); }
  int64_t peak_bytes_in_use() const override { return pjrt_->peak_bytes_in_use(); }

 private:
  struct WatchedExecutable final : Executable {
    WatchedExecutable(Watched& backend, std::unique_ptr<Executable> executable)
        : backend(backend), executable(std::move(executable)) {}
    absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>> arguments,
                                                 const RunContext& context) override {
      if (backend.keep_arguments) backend.Keep(arguments);
      return executable->Run(std::move(arguments), context);
    }
    Sizes sizes() const override { return executable->sizes(); }
    std::span<const Kernel> kernels() const override { return executable->kernels(); }
    Watched& backend;
    const std::unique_ptr<Executable> executable;
  };
  void Keep(const std::vector<Ref<Buffer>>& buffers) {
    arguments.clear();
    for (const Ref<Buffer>& buffer : buffers) {
      std::string& bytes = arguments.emplace_back(size_t(buffer->shape().bytes()), '\0');
      Require(pjrt_->ToHost(*buffer, bytes.data()));
    }
  }

  const std::unique_ptr<Backend> pjrt_;
};

// The program of a step, executed by calls of PJRT and nothing else.
class Bare {
 public:
  Bare(const std::string& plugin, const Program& program, std::span<const std::string> arguments)
      : client_(*Require(pjrt::Client::Of(plugin))),
        donations_(program.donations),
        outputs_(program.results.size()) {
    device_ = pjrt::PluginDevice::Make(client_, 0);
    std::string text = StableHloText(program);
    const std::string options = Require(device_->OptionsFor(/*ranks=*/1));
    const std::string_view format = "mlir";
    const PJRT_Program code{.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = text.data(),
                            .code_size = text.size(),
                            .format = format.data(),
                            .format_size = format.size()};
    PJRT_Client_Compile_Args compile{.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = client_.get(),
                                     .program = &code,
                                     .compile_options = options.data(),
                                     .compile_options_size = options.size()};
    Check(client_.api()->PJRT_Client_Compile(&compile));
    executable_ = compile.executable;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Shape& shape = program.instructions[size_t(program.parameters[i])].shape;
      made_.push_back(Require(pjrt::CopyToDevice(device_, arguments[i].data(), shape)));
      inputs_.push_back(static_cast<const pjrt::PluginBuffer&>(*made_.back()).get());
    }
  }

  // Executes the program. The results of one step are the donated arguments of the next.
  void Step(bool wait) {
    PJRT_ExecuteOptions options{.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer* const* inputs = inputs_.data();
    PJRT_Buffer** outputs = outputs_.data();
    PJRT_Event* done = nullptr;
    PJRT_LoadedExecutable_Execute_Args args{
        .struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
        .executable = executable_,
        .options = &options,
        .argument_lists = &inputs,
        .num_devices = 1,
        .num_args = inputs_.size(),
        .output_lists = &outputs,
        .device_complete_events = &done};
    Check(client_.api()->PJRT_LoadedExecutable_Execute(&args));
    if (wait) {
      Require(client_.api().Await(done, "await"));
    } else {
      PJRT_Event_Destroy_Args destroy{.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE,
                                      .event = done};
      Check(client_.api()->PJRT_Event_Destroy(&destroy));
    }
    for (const Program::Donation& donation : donations_) {
      PJRT_Buffer*& input = inputs_[size_t(donation.parameter)];
      Ref<Buffer>& made = made_[size_t(donation.parameter)];
      made ? void(made = nullptr) : Destroy(input);
      input = std::exchange(outputs_[size_t(donation.result)], nullptr);
    }
    for (PJRT_Buffer*& output : outputs_) {
      if (output != nullptr) Destroy(std::exchange(output, nullptr));
    }
  }

 private:
  void Check(PJRT_Error* error) { Require(client_.api().ToStatus(error, "bare PJRT")); }
  void Destroy(PJRT_Buffer* buffer) {
    PJRT_Buffer_Destroy_Args args{.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                  .buffer = buffer};
    Check(client_.api()->PJRT_Buffer_Destroy(&args));
  }

  pjrt::Client& client_;
  Ref<pjrt::PluginDevice> device_;
  PJRT_LoadedExecutable* executable_ = nullptr;
  const std::vector<Program::Donation> donations_;
  std::vector<Ref<Buffer>> made_;  // the first inputs, until they are replaced
  std::vector<PJRT_Buffer*> inputs_, outputs_;
};

struct Mlp : nn::Module {
  nn::Linear fc1{784, 256}, fc2{256, 128}, fc3{128, 10};
  std::vector<nn::Part> parts() override { return {{"fc1", fc1}, {"fc2", fc2}, {"fc3", fc3}}; }
  Tensor operator()(const Tensor& x) const { return log_softmax(fc3(relu(fc2(relu(fc1(x))))), 1); }
};

// Measures training steps of `net` and prints them as members of the JSON object.
template <class Net>
void Measure(const char* name, const std::string& plugin, Device& device, Dims sizes,
             double momentum, int rounds) {
  Watched& watched = static_cast<Watched&>(device.backend());
  Net net;
  net.to(device);
  const Tensor images = rand(std::move(sizes), device);
  optim::SGD optimizer(net.parameters(), 0.01, momentum);
  const Tensor labels = remainder(arange(images.sizes()[0], DType::kI64, device), 10);
  sync(true, device);
  auto step = [&](bool wait) {
    optimizer.zero_grad();
    const Tensor loss = nll_loss(net(images), labels);
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
    sync(wait, device);
  };
  for (int i = 0; i < 5; ++i) step(true);
  watched.keep_arguments = true;
  step(true);
  watched.keep_arguments = false;
  Bare bare(plugin, watched.program, watched.arguments);
  for (int i = 0; i < 5; ++i) bare.Step(true);

  const auto took = [](auto&& f) {
    const auto begin = Clock::now();
    f();
    return Since(begin);
  };
  std::vector<double> ours, theirs, ours_in_row, theirs_in_row;
  constexpr int kRow = 8;
  for (int i = 0; i < rounds; ++i) {
    ours.push_back(took([&] { step(true); }));
    theirs.push_back(took([&] { bare.Step(true); }));
    if (i % kRow != 0) continue;
    ours_in_row.push_back(took([&] {
                            for (int j = 1; j < kRow; ++j) step(false);
                            step(true);
                          }) /
                          kRow);
    theirs_in_row.push_back(took([&] {
                              for (int j = 1; j < kRow; ++j) bare.Step(false);
                              bare.Step(true);
                            }) /
                            kRow);
  }
  std::printf(
      "\"%s_step_us\": %.1f, \"bare_%s_step_us\": %.1f, \"%s_row_us\": %.1f, \"bare_%s_row_us\": %.1f, ",
      name, Median(ours), name, Median(theirs), name, Median(ours_in_row), name,
      Median(theirs_in_row));
  std::fflush(stdout);
}

// Measures a step of two operations that is waited for, and a read.
void MeasureSmallest(Device& device) {
  const Tensor x = ones({16, 16}, DType::kF32, device), y = ones({16, 16}, DType::kF32, device);
  Tensor state = x.clone();
  sync(true, device);
  std::vector<double> steps, reads;
  for (int i = 0; i < 500; ++i) {
    auto begin = Clock::now();
    state = state * y + x;
    sync(true, device);
    steps.push_back(Since(begin));
    begin = Clock::now();
    sum(x * y).item();
    reads.push_back(Since(begin));
  }
  std::printf("\"smallest_step_us\": %.1f, \"item_us\": %.1f, ", Median(steps), Median(reads));
}

int Main(const std::string& plugin) {
  Device& device = *new Device("PJRT:0", std::make_unique<Watched>(plugin));
  std::printf("{");
  Measure<Mlp>("mlp", plugin, device, {64, 784}, /*momentum=*/0, 400);
  Measure<examples::Net>("conv", plugin, device, {64, 1, 28, 28}, /*momentum=*/0.9, 120);
  MeasureSmallest(device);
  std::printf("\"one\": 1}\n");
  return 0;
}

}  // namespace
}  // namespace xlaprof::lazy

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: pjrt_bench PLUGIN\n");
    return 2;
  }
  return xlaprof::lazy::Main(argv[1]);
}
