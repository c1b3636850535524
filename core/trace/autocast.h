// Mixed precision, like torch.autocast("cpu").
//
//   {
//     Autocast autocast;            // bf16
//     loss = cross_entropy(net(x), classes);
//   }
//   loss.backward();                // the weights and their gradients stay f32
#pragma once

#include <optional>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// While it lives, some operations of this thread convert their operands, as PyTorch's lists for the
// CPU say. f64 is never converted, and neither are integers.
// - matmul, linear, conv2d and scaled_dot_product_attention work in `type`.
// - nll_loss, cross_entropy, mse_loss and prod work in f32.
// All others keep the types of their operands. In bf16 and f16, softmax, logsumexp, mean and the
// normalizations compute in f32 and round the result, with and without Autocast.
class Autocast {
 public:
  // With `enabled` off, nothing is converted, also inside of another Autocast. Raises an Error if
  // `type` is neither bf16 nor f16.
  explicit Autocast(DType type = DType::kBF16, bool enabled = true, Where where = Where::current());
  ~Autocast() { type_ = before_; }
  Autocast(const Autocast&) = delete;

  // Returns the type of this thread; nothing if Autocast is off.
  static std::optional<DType> type() { return type_; }

 private:
  static inline constinit thread_local std::optional<DType> type_{};
  const std::optional<DType> before_;
};

// Return an operand as this thread's Autocast wants it, and otherwise as it is: in the narrow type,
// or in f32.
Tensor AutocastToNarrow(const Tensor& x);
Tensor AutocastToF32(const Tensor& x);

}  // namespace xlaprof::lazy
