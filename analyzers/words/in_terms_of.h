// Words that differ from framework to framework.
#pragma once

#include <optional>
#include <string_view>

#include "analyzers/finding.h"

namespace xlaprof {

// One row of words. A framework without words of its own has `otherwise`. PyTorch's words are those
// of all that record PyTorch's operations: TorchTPU and Gaudi, and PyTorch/XLA unless it has some.
struct InTermsOf {
  std::optional<std::string_view> pytorch = {}, pytorch_xla = {}, jax = {}, cpp = {},
                                  tensorflow = {};
  std::string_view otherwise = {};

  constexpr std::string_view Of(Framework framework) const {
    switch (framework) {
      case Framework::kPytorchXla:
        return pytorch_xla.value_or(pytorch.value_or(otherwise));
      case Framework::kPytorch:
      case Framework::kTorchtpu:
      case Framework::kGaudi:
        return pytorch.value_or(otherwise);
      case Framework::kJax:
        return jax.value_or(otherwise);
      case Framework::kCpp:
        return cpp.value_or(otherwise);
      case Framework::kTensorflow:
        return tensorflow.value_or(otherwise);
      case Framework::kUnknown:
        break;
    }
    return otherwise;
  }
};

// Returns the call that ends a step of a lazy runtime.
constexpr std::string_view StepMarkCall(Framework framework) {
  return framework == Framework::kCpp ? "sync()" : "torch_xla.sync()";
}

}  // namespace xlaprof
