// torch_cases FOLDER trains a small model with each kind of optimizer and scheduler, and runs
// operations under Autocast. It writes what comes in and out as FOLDER/CASE.safetensors;
// torch_test.py does the same with PyTorch.
#include <functional>

#include "core/nn/clip_grad.h"
#include "core/nn/lr_scheduler.h"
#include "core/nn/multihead_attention.h"
#include "core/nn/sequential.h"
#include "core/trace/autocast.h"
#include "tests/core/nn/sines.h"

namespace xlaprof::lazy {
namespace {

constexpr int kSteps = 12;
// Adam's epsilon. The gradient of the bias of the keys is only rounding, which a smaller epsilon
// would turn into steps.
constexpr double kEps = 1e-3;

struct Net : nn::Module {
  nn::Linear embed{6, 8};
  nn::MultiheadAttention attention{8, 2, {.batch_first = true}};
  nn::LayerNorm norm{8};
  nn::GroupNorm groups{2, 8};
  nn::Sequential head{nn::Linear(8, 16), nn::SiLU(), nn::Linear(16, 5)};

  std::vector<nn::Part> parts() override {
    return {{"embed", embed},
            {"attention", attention},
            {"norm", norm},
            {"groups", groups},
            {"head", head}};
  }
  Tensor Loss(const Tensor& x, const Tensor& classes) const {
    Tensor hidden = embed(x);
    hidden = norm(hidden + attention(hidden, hidden, hidden).first);
    hidden = groups(hidden.transpose(1, 2)).transpose(1, 2);
    return cross_entropy(head(mean(hidden, {1})), classes);
  }
};

void Add(State* all, const std::string& folder, const State& state) {
  for (const auto& [name, tensor] : state) (*all)[folder + "/" + name] = tensor.detach().clone();
}

using Make = std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>;
using Schedule = std::function<std::unique_ptr<optim::LRScheduler>(optim::Optimizer&)>;

void Train(const std::filesystem::path& file, DType type, bool is_autocast, const Make& make,
           const Schedule& schedule) {
  nn::manual_seed(5);
  Net net;
  net.to(type);
  const Tensor x = Sines({10, 4, 6}, 3).to(type), classes = remainder(arange(10), 5);
  State all{{"x", x}, {"classes", classes}};
  Add(&all, "before", net.state_dict());
  // Biases and the weights of normalizations are not decayed.
  std::vector<Tensor> decayed, others;
  for (const Tensor& parameter : net.parameters())
    (parameter.dim() > 1 ? decayed : others).push_back(parameter);
  const std::unique_ptr<optim::Optimizer> optimizer = make(decayed);
  optimizer->add_param_group(others, {.weight_decay = 0});
  const std::unique_ptr<optim::LRScheduler> scheduler = schedule(*optimizer);
  std::vector<Tensor> losses, norms;
  std::vector<double> rates;
  for (int step = 0; step < kSteps; ++step) {
    optimizer->zero_grad();
    Tensor loss;
    {
      const Autocast autocast(DType::kBF16, is_autocast);
      loss = net.Loss(x, classes);
    }
    loss.backward();
    norms.push_back(nn::clip_grad_norm_(net.parameters(), 0.5));
    if (step == 0) {
      for (const auto& [name, parameter] : net.state_dict())
        all["grad/" + name] = parameter.grad().clone();
    }
    rates.push_back(optimizer->param_groups[0].lr);
    optimizer_step(*optimizer, /*barrier=*/true);
    scheduler->step();
    losses.push_back(loss.detach());
  }
  all["losses"] = stack(losses), all["norms"] = stack(norms);
  all["rates"] = Tensor::FromHost(std::span<const double>(rates), {kSteps});
  Add(&all, "after", net.state_dict());
  Add(&all, "optimizer", optimizer->state_dict());
  save(all, file);
}

template <class Optimizer, class Options>
Make With(Options options) {
  return [=](std::vector<Tensor> params) {
    return std::make_unique<Optimizer>(std::move(params), options);
  };
}

template <class Scheduler, class... Args>
Schedule By(Args... args) {
  return
      [=](optim::Optimizer& optimizer) { return std::make_unique<Scheduler>(optimizer, args...); };
}

void TrainAll(const std::filesystem::path& folder) {
  const optim::SGDOptions nesterov{
      .lr = 0.2, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true};
  const optim::SGDOptions dampened{.lr = 0.2, .momentum = 0.9, .dampening = 0.3};
  const optim::AdamOptions decayed{.lr = 0.02, .eps = kEps, .weight_decay = 0.1};
  const optim::AdamOptions plain{.lr = 0.02, .eps = kEps};
  const auto shrinking = [](int64_t epoch) { return 1 / double(1 + epoch); };
  for (const DType type : {DType::kF32, DType::kBF16}) {
    const auto path = [&](const char* name) {
      return folder / fmt::format("{}_{}.safetensors", name, XlaName(type));
    };
    Train(path("sgd"), type, false, With<optim::SGD>(nesterov), By<optim::StepLR>(4, 0.5));
    Train(path("dampened"), type, false, With<optim::SGD>(dampened),
          By<optim::MultiStepLR>(std::vector<int64_t>{2, 5}, 0.5));
    Train(path("adam"), type, false, With<optim::Adam>(decayed), By<optim::LinearLR>());
    Train(path("adamw"), type, false, With<optim::AdamW>(decayed), By<optim::CosineAnnealingLR>(8));
  }
  Train(folder / "autocast.safetensors", DType::kF32, true, With<optim::AdamW>(plain),
        By<optim::LambdaLR>(shrinking));
}

// Each of these is one of torch_test.py's, by its name.
void RunOperations(const std::filesystem::path& file) {
  const Tensor x = Sines({2, 3, 4}, 1).to(DType::kF32), w = Sines({4, 4}, 2).to(DType::kF32);
  const Tensor row = Sines({4}, 3).to(DType::kF32), channels = Sines({3}, 4).to(DType::kF32);
  const Tensor b = x.to(DType::kBF16), logits = b.select(0, 0), classes = arange(3);
  const Tensor images = Sines({1, 2, 4, 4}, 5).to(DType::kF32);
  const Tensor kernels = Sines({3, 2, 3, 3}, 6).to(DType::kF32);
  const Tensor tall = Sines({64, 300}, 7).to(DType::kBF16);
  const Tensor seen = lt(classes.unsqueeze(1), classes);
  const Autocast autocast;
  save({{"matmul", matmul(x, w)},
        {"dot", matmul(row, row)},
        {"matmul_f64", matmul(x.to(DType::kF64), w.to(DType::kF64))},
        {"matmul_f16", matmul(x.to(DType::kF16), w.to(DType::kF16))},
        {"linear", linear(x, w, row)},
        {"conv2d", conv2d(images, kernels, channels)},
        {"attention", scaled_dot_product_attention(x, x, x)},
        {"attention_seen", scaled_dot_product_attention(x, x, x, seen)},
        {"attention_bias", scaled_dot_product_attention(x, x, x, x.slice(2, 0, 3))},
        {"softmax_f32", softmax(x, 1)},
        {"softmax", softmax(tall, 1)},
        {"log_softmax", log_softmax(tall, 1)},
        {"logsumexp", logsumexp(tall, 1)},
        {"sum", sum(tall, {1})},
        {"mean", mean(tall, {1})},
        {"amax", amax(tall, {1})},
        {"prod", prod(b, {1})},
        {"layer_norm", layer_norm(b, row, row)},
        {"batch_norm", batch_norm(b, {}, {}, channels, channels, /*training=*/true)},
        {"group_norm", group_norm(b, 3, channels, channels)},
        {"gelu", gelu(b)},
        {"exp", exp(b)},
        {"added", b + x},
        {"where", where(gt(x, 0), b, x)},
        {"cat", cat(std::vector{b, x})},
        {"stack", stack(std::vector{b, x})},
        {"embedding", embedding(w, classes)},
        {"avg_pool2d", avg_pool2d(images.to(DType::kBF16), 2)},
        {"nll_loss", nll_loss(logits, classes)},
        {"cross_entropy", cross_entropy(logits, classes)},
        {"mse_loss", mse_loss(b, b + 1)},
        {"mse_loss_f64", mse_loss(b, x.to(DType::kF64))}},
       file);
}

}  // namespace
}  // namespace xlaprof::lazy

int main(int, char** argv) {
  const std::filesystem::path folder = argv[1];
  xlaprof::lazy::TrainAll(folder);
  xlaprof::lazy::RunOperations(folder / "operations.safetensors");
  return 0;
}
