#include "core/nn/clip_grad.h"

#include <cmath>

#include "core/exec/call.h"
#include "core/trace/functions.h"
#include "core/trace/wide.h"

namespace xlaprof::lazy::nn {
namespace {

// Returns a number that can be joined with those of other gradients: the largest absolute value, or
// the sum of the powers.
Tensor PowersOf(const Tensor& grad, double order) {
  const Tensor wide = Wide(grad);
  if (std::isinf(order)) return amax(abs(wide));
  if (order == 2) return sum(wide * wide);
  return sum(order == 1 ? abs(wide) : pow(abs(wide), order));
}

Tensor Join(const Tensor& a, const Tensor& b, double order) {
  return std::isinf(order) ? maximum(a, b) : a + b;
}

Tensor Root(const Tensor& powers, double order) {
  if (std::isinf(order) || order == 1) return powers;
  return order == 2 ? sqrt(powers) : pow(powers, 1 / order);
}

}  // namespace

Tensor clip_grad_norm_(std::span<const Tensor> parameters, double max_norm, double norm_type,
                       Where where) {
  OpCall call(where);
  if (!(norm_type > 0))
    RaiseHere("clip_grad_norm_: norm_type is {}, but it must be above 0", norm_type);
  NoGrad no_grad;
  std::vector<Tensor> grads;
  for (const Tensor& parameter : parameters) {
    if (Tensor grad = parameter.grad(); grad.defined()) grads.push_back(std::move(grad));
  }
  if (grads.empty()) return zeros({});
  Device& device = grads.front().device();
  Tensor powers;
  DType type = grads.front().dtype();
  for (const Tensor& grad : grads) {
    const Tensor own = PowersOf(grad, norm_type).to(device);
    powers = powers.defined() ? Join(powers, own, norm_type) : own;
    type = Promote(type, grad.dtype());
  }
  const Tensor norm = Root(powers, norm_type).to(type);
  const Tensor factor = minimum(max_norm / (norm + 1e-6), 1);
  for (Tensor& grad : grads) grad.mul_(factor.to(grad.device()));
  return norm;
}

}  // namespace xlaprof::lazy::nn
