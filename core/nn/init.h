// Draws the initial values of parameters, on the host.
#pragma once

#include <random>

#include "core/trace/tensor.h"

namespace xlaprof::lazy::nn {

std::mt19937_64& Generator();

// Returns a parameter whose values `draw(generator)` gives.
template <class Draw>
Tensor Drawn(Dims sizes, Device& device, Draw&& draw) {
  std::vector<float> values(size_t(Shape{DType::kF32, sizes}.elements()));
  for (float& value : values) value = float(draw(Generator()));
  Tensor parameter = Tensor::FromHost(std::span<const float>(values), std::move(sizes), device);
  return parameter.requires_grad_();
}
// Draws from -most to most, each value with the same probability.
Tensor Uniform(Dims sizes, double most, Device& device);
// Draws PyTorch's initial values of Linear and Conv2d: uniform within 1/sqrt(inputs of one output).
Tensor UniformByInputs(Dims sizes, int64_t inputs, Device& device);
Tensor Filled(int64_t count, float value, Device& device);

}  // namespace xlaprof::lazy::nn
