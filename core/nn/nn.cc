#include "core/nn/nn.h"

#include <cmath>
#include <random>

namespace xlaprof::lazy::nn {
namespace {

std::mt19937_64& Generator() {
  static thread_local std::mt19937_64 generator(0);
  return generator;
}

template <class Draw>
Tensor Drawn(Dims sizes, Device& device, Draw&& draw) {
  std::vector<float> values(size_t(Shape{DType::kF32, sizes}.elements()));
  for (float& value : values) value = float(draw(Generator()));
  Tensor parameter = Tensor::FromHost(std::span<const float>(values), std::move(sizes), device);
  return parameter.requires_grad_();
}

// Draws PyTorch's initial values of Linear and Conv2d: uniform within 1/sqrt(inputs of one output).
Tensor Uniform(Dims sizes, int64_t inputs, Device& device) {
  const double most = 1 / std::sqrt(double(inputs));
  return Drawn(std::move(sizes), device, std::uniform_real_distribution<double>(-most, most));
}

Tensor Filled(int64_t count, float value, Device& device) {
  return Drawn({count}, device, [value](auto&) { return value; });
}

}  // namespace

void manual_seed(uint64_t seed) { Generator().seed(seed); }

Linear::Linear(int64_t in, int64_t out, Device& device)
    : weight(Uniform({out, in}, in, device)), bias(Uniform({out}, in, device)) {}
Tensor Linear::operator()(const Tensor& x, Where where) const {
  return linear(x, weight, bias, where);
}

Conv2d::Conv2d(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding,
               Device& device)
    : weight(Uniform({out, in, kernel, kernel}, in * kernel * kernel, device)),
      bias(Uniform({out}, in * kernel * kernel, device)),
      stride(stride),
      padding(padding) {}
Tensor Conv2d::operator()(const Tensor& x, Where where) const {
  return conv2d(x, weight, bias, stride, padding, where);
}

BatchNorm2d::BatchNorm2d(int64_t channels, Device& device)
    : weight(Filled(channels, 1, device)),
      bias(Filled(channels, 0, device)),
      running_mean(Filled(channels, 0, device).detach()),
      running_var(Filled(channels, 1, device).detach()) {}

Tensor BatchNorm2d::operator()(const Tensor& x, Where where) {
  return batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps, where);
}

Embedding::Embedding(int64_t count, int64_t width, Device& device)
    : weight(Drawn({count, width}, device, std::normal_distribution<double>())) {}
Tensor Embedding::operator()(const Tensor& index, Where where) const {
  return embedding(weight, index, where);
}

LayerNorm::LayerNorm(int64_t width, Device& device)
    : weight(Filled(width, 1, device)), bias(Filled(width, 0, device)) {}
Tensor LayerNorm::operator()(const Tensor& x, Where where) const {
  return layer_norm(x, weight, bias, 1e-5, where);
}

Tensor Dropout::operator()(const Tensor& x, Where where) const {
  return training ? dropout(x, p, where) : x;
}

}  // namespace xlaprof::lazy::nn
