// stablehlo_models FOLDER writes the third training step of each of some models as MODEL.mlir.
// MODEL.safetensors holds the inputs (input/N), the native backend's results (result/N), and by
// their names the data, the loss, and the parameters with their gradients. stablehlo_models_test.py
// checks them.
#include <cstdio>

#include "core/exec/transfer.h"
#include "core/graph/traced_graph.h"
#include "core/ir/stablehlo.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/trace/emit.h"
#include "core/trace/safetensors.h"
#include "examples/mnist/net.h"

namespace xlaprof::lazy {
namespace {

// Adam's epsilon. The gradient of a bias before a normalisation is only rounding, which a smaller
// epsilon would turn into steps.
constexpr double kEps = 1e-3;

struct Mlp : nn::Module {
  nn::Linear fc1{20, 32}, fc2{32, 5};
  std::vector<nn::Part> parts() override { return {{"fc1", fc1}, {"fc2", fc2}}; }
  Tensor Loss(const State& data) const {
    return cross_entropy(fc2(gelu(fc1(data.at("x")))), data.at("classes"));
  }
};

struct ConvNet : examples::Net {
  Tensor Loss(const State& data) const {
    return nll_loss((*this)(data.at("x")), data.at("classes"));
  }
};

// Predicts the next word from the words before it.
struct Transformer : nn::Module {
  static constexpr int64_t kWords = 11, kWidth = 16, kTime = 6;
  nn::Embedding words{kWords, kWidth}, places{kTime, kWidth};
  nn::LayerNorm norm1{kWidth}, norm2{kWidth};
  nn::Linear query{kWidth, kWidth}, key{kWidth, kWidth}, value{kWidth, kWidth}, out{kWidth, kWidth};
  nn::Linear up{kWidth, 4 * kWidth}, down{4 * kWidth, kWidth}, head{kWidth, kWords};
  std::vector<nn::Part> parts() override {
    return {{"words", words}, {"places", places}, {"norm1", norm1}, {"norm2", norm2},
            {"query", query}, {"key", key},       {"value", value}, {"out", out},
            {"up", up},       {"down", down},     {"head", head}};
  }
  Tensor Loss(const State& data) const {
    Tensor x = words(data.at("x")) + places(arange(kTime));
    const Tensor in = norm1(x);
    x = x + out(scaled_dot_product_attention(query(in), key(in), value(in), /*causal=*/true));
    x = x + down(gelu(up(norm2(x)), "tanh"));
    return cross_entropy(head(x).view({-1, kWords}), data.at("classes"));
  }
};

// Also updates running statistics.
struct Normed : nn::Module {
  nn::Conv2d conv{2, 4, 3, /*stride=*/2, /*padding=*/1};
  nn::BatchNorm2d norm{4};
  nn::Linear fc{16, 3};
  std::vector<nn::Part> parts() override { return {{"conv", conv}, {"norm", norm}, {"fc", fc}}; }
  Tensor Loss(const State& data) {
    const Tensor seen = avg_pool2d(relu(norm(conv(data.at("x")))), 2);
    return cross_entropy(fc(seen.flatten(1)), data.at("classes"));
  }
};

HostTensor Host(const Data& data) {
  auto bytes = Download(data, {});
  if (!bytes.ok()) Raise("{}", Message(bytes.status()));
  return {data.shape(), *std::move(bytes)};
}

std::string Numbered(const char* what, size_t i) { return fmt::format("{}/{:03}", what, i); }

template <class Net, class Optimizer>
void Write(const std::filesystem::path& folder, const std::string& name, Net net,
           Optimizer optimizer, const State& data) {
  Tensor loss;
  const auto step = [&] {
    optimizer.zero_grad();
    loss = net.Loss(data);
    loss.backward();
    optimizer.step();
  };
  for (int i = 0; i < 2; ++i) {
    step();
    sync(/*wait=*/true);
  }
  SavedTensors saved;
  for (const auto& [of, tensor] : data) saved["data/" + of].values = tensor.to_cpu();
  for (const auto& [of, tensor] : net.state_dict()) saved["before/" + of].values = tensor.to_cpu();
  step();

  std::vector<Ref<Storage>> pending = Device::Default().live().All();
  std::erase_if(pending, [](const Ref<Storage>& storage) { return storage->is_computed(); });
  std::vector<NodePtr> roots;
  for (const Ref<Storage>& storage : pending) roots.push_back(storage->value());
  const TracedGraph graph = WalkGraph(std::move(roots));
  for (size_t i = 0; i < graph.parameters.size(); ++i)
    saved[Numbered("input", i)].values = Host(*graph.parameters[i]);
  sync(/*wait=*/true);
  for (size_t i = 0; i < pending.size(); ++i)
    saved[Numbered("result", i)].values = Host(*pending[i]->held());

  saved["loss"].values = loss.to_cpu();
  for (const auto& [of, tensor] : net.state_dict()) {
    if (tensor.grad()) saved["grad/" + of].values = tensor.grad().to_cpu();
  }
  const std::string text = StableHloText(MakeProgram(graph, name));
  std::FILE* file = std::fopen((folder / (name + ".mlir")).c_str(), "w");
  fmt::print(file, "{}", text);
  std::fclose(file);
  if (absl::Status status = WriteSafetensors(folder / (name + ".safetensors"), saved); !status.ok())
    Raise("{}", Message(status));
}

void WriteAll(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  nn::manual_seed(3);
  Mlp mlp;
  Write(folder, "mlp", mlp, optim::SGD(mlp.parameters(), 0.1, 0.9),
        {{"x", randn({16, 20})}, {"classes", remainder(arange(16), 5)}});
  ConvNet conv;
  Write(folder, "conv", conv, optim::SGD(conv.parameters(), 0.05, 0.9),
        {{"x", rand({8, 1, 28, 28})}, {"classes", remainder(arange(8), 10)}});
  Normed normed;
  Write(folder, "normed", normed, optim::Adam(normed.parameters(), {.lr = 0.01, .eps = kEps}),
        {{"x", randn({6, 2, 8, 8})}, {"classes", remainder(arange(6), 3)}});
  Transformer transformer;
  const Tensor words = remainder(arange(3 * Transformer::kTime) * 7, Transformer::kWords);
  Write(folder, "transformer", transformer,
        optim::Adam(transformer.parameters(), {.lr = 0.01, .eps = kEps}),
        {{"x", words.view({3, Transformer::kTime})},
         {"classes", remainder(words + 1, Transformer::kWords)}});
}

}  // namespace
}  // namespace xlaprof::lazy

int main(int, char** argv) {
  xlaprof::lazy::WriteAll(argv[1]);
  return 0;
}
