// Numbers for tests that compare with PyTorch, which can compute them, too.
#pragma once

#include <cmath>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// Returns sin(i * i + seed) for each element i.
inline Tensor Sines(Dims sizes, int seed) {
  std::vector<double> values(size_t(Shape{DType::kF64, sizes}.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(double(i * i) + seed);
  return Tensor::FromHost(std::span<const double>(values), std::move(sizes));
}

}  // namespace xlaprof::lazy
