// Layers with PyTorch's names. Parameters are tensors that need gradients, and a call records the
// layer's operations.
#pragma once

#include "core/nn/module.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy::nn {

// Seeds the parameters' initial values, which are drawn on the host.
void manual_seed(uint64_t seed);

struct Linear : Module {
  Linear(int64_t in, int64_t out, Device& device = Device::Default());
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  std::vector<Part> parts() override { return {{"weight", weight}, {"bias", bias}}; }
  Tensor weight, bias;  // [out, in], [out]
};

struct Conv2d : Module {
  Conv2d(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t padding = 0,
         int64_t dilation = 1, int64_t groups = 1, Device& device = Device::Default());
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  std::vector<Part> parts() override { return {{"weight", weight}, {"bias", bias}}; }
  Tensor weight, bias;  // [out, in / groups, kernel, kernel], [out]
  int64_t stride, padding, dilation, groups;
};

struct BatchNorm2d : Module {
  explicit BatchNorm2d(int64_t channels, Device& device = Device::Default());
  // In training, normalizes by the batch, and updates the running mean and variance from it.
  Tensor operator()(const Tensor& x, Where where = Where::current());
  std::vector<Part> parts() override {
    return {{"weight", weight},
            {"bias", bias},
            {"running_mean", running_mean, Part::kBuffer},
            {"running_var", running_var, Part::kBuffer}};
  }
  Tensor weight, bias, running_mean, running_var;  // [channels]
  double momentum = 0.1, eps = 1e-5;
};

struct Embedding : Module {
  Embedding(int64_t count, int64_t width, Device& device = Device::Default());
  Tensor operator()(const Tensor& index, Where where = Where::current()) const;
  std::vector<Part> parts() override { return {{"weight", weight}}; }
  Tensor weight;  // [count, width]
};

struct LayerNorm : Module {
  explicit LayerNorm(int64_t width, Device& device = Device::Default());
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  std::vector<Part> parts() override { return {{"weight", weight}, {"bias", bias}}; }
  Tensor weight, bias;  // [width]
};

struct GroupNorm : Module {
  GroupNorm(int64_t num_groups, int64_t num_channels, Device& device = Device::Default(),
            Where where = Where::current());
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  std::vector<Part> parts() override { return {{"weight", weight}, {"bias", bias}}; }
  Tensor weight, bias;  // [num_channels]
  int64_t num_groups;
  double eps = 1e-5;
};

struct Dropout : Module {
  explicit Dropout(double p = 0.5) : p(p) {}
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  double p;  // probability that an element becomes 0 in training
};

// Functions as modules, for Sequential.
struct ReLU : Module {
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
};
struct GELU : Module {
  explicit GELU(std::string approximate = "none") : approximate(std::move(approximate)) {}
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  std::string approximate;
};
struct SiLU : Module {
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
};
struct Flatten : Module {  // joins all dimensions but the first
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
};
struct MaxPool2d : Module {
  explicit MaxPool2d(int64_t kernel, int64_t stride = 0, int64_t padding = 0)
      : kernel(kernel), stride(stride), padding(padding) {}
  Tensor operator()(const Tensor& x, Where where = Where::current()) const;
  int64_t kernel, stride, padding;  // stride 0: the kernel's size
};

}  // namespace xlaprof::lazy::nn
