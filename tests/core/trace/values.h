// Helpers for tests that read tensors and errors.
#pragma once

#include <string>
#include <vector>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

inline std::vector<float> Values(const Tensor& tensor) {
  const HostTensor host = tensor.to(DType::kF32).to_cpu();
  const auto values = host.values<float>();
  return {values.begin(), values.end()};
}

// Returns the message of the error that `f` raises.
template <class F>
std::string MessageOf(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was raised";
}

}  // namespace xlaprof::lazy
