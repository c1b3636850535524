// Limits gradients before an optimizer's step.
#pragma once

#include <span>

#include "core/trace/tensor.h"

namespace xlaprof::lazy::nn {

// Multiplies all gradients by max_norm / (norm + 1e-6) if that is less than 1, where the norm is
// that of all gradients together: the root of order `norm_type` of the sum of their powers, or the
// largest absolute value if norm_type is infinite. Returns the norm. The decision is made on the
// device: nothing is read, and each step has the same graph. Parameters without a gradient count
// for nothing. If there are several ranks, call reduce_gradients() before it.
Tensor clip_grad_norm_(std::span<const Tensor> parameters, double max_norm, double norm_type = 2,
                       Where where = Where::current());

}  // namespace xlaprof::lazy::nn
