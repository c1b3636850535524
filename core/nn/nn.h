// Layers and optimizers, by PyTorch's names: parameters are tensors that need gradients, and a call
// records what the layer does.
#pragma once

#include <vector>

#include "core/trace/functions.h"

namespace xlaprof::lazy::nn {

// Of the parameters' first values, which are drawn on the host.
void manual_seed(uint64_t seed);

struct Linear {
  Linear(int64_t in, int64_t out, Device& device = Device::Default());
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  std::vector<Tensor> parameters() const { return {weight, bias}; }
  Tensor weight, bias;  // [out, in], [out]
};

struct Conv2d {
  Conv2d(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t padding = 0,
         Device& device = Device::Default());
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  std::vector<Tensor> parameters() const { return {weight, bias}; }
  Tensor weight, bias;  // [out, in, kernel, kernel], [out]
  int64_t stride, padding;
};

struct BatchNorm2d {
  explicit BatchNorm2d(int64_t channels, Device& device = Device::Default());
  // Training: by the batch, whose mean and variance the running ones follow.
  Tensor operator()(const Tensor& x, Where where = Where::current());
  std::vector<Tensor> parameters() const { return {weight, bias}; }
  Tensor weight, bias, running_mean, running_var;  // [channels]
  bool training = true;
  double momentum = 0.1, eps = 1e-5;
};

struct Embedding {
  Embedding(int64_t count, int64_t width, Device& device = Device::Default());
  Tensor operator()(const Tensor& index, Where where = Where::current()) const;
  std::vector<Tensor> parameters() const { return {weight}; }
  Tensor weight;  // [count, width]
};

struct LayerNorm {
  explicit LayerNorm(int64_t width, Device& device = Device::Default());
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  std::vector<Tensor> parameters() const { return {weight, bias}; }
  Tensor weight, bias;  // [width]
};

struct Dropout {
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  double p = 0.5;
  bool training = true;
};

// Parameters of several layers, one after the other.
template <class... Layers>
std::vector<Tensor> Parameters(const Layers&... layers) {
  std::vector<Tensor> all;
  auto append = [&](const std::vector<Tensor>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  (append(layers.parameters()), ...);
  return all;
}

}  // namespace xlaprof::lazy::nn
