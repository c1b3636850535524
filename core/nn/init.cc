#include "core/nn/init.h"

#include <cmath>

#include "core/nn/nn.h"

namespace xlaprof::lazy::nn {

std::mt19937_64& Generator() {
  static thread_local std::mt19937_64 generator(0);
  return generator;
}

void manual_seed(uint64_t seed) { Generator().seed(seed); }

Tensor Uniform(Dims sizes, double most, Device& device) {
  return Drawn(std::move(sizes), device, std::uniform_real_distribution<double>(-most, most));
}

Tensor UniformByInputs(Dims sizes, int64_t inputs, Device& device) {
  return Uniform(std::move(sizes), 1 / std::sqrt(double(inputs)), device);
}

Tensor Filled(int64_t count, float value, Device& device) {
  return Drawn({count}, device, [value](auto&) { return value; });
}

}  // namespace xlaprof::lazy::nn
