#include "core/nn/optim.h"

#include "core/exec/call.h"

namespace xlaprof::lazy {
namespace optim {

Optimizer::Optimizer(std::vector<Tensor> parameters) : parameters_(std::move(parameters)) {
  if (parameters_.empty()) Raise("an optimizer without parameters");
}

void Optimizer::zero_grad() {
  for (Tensor& parameter : parameters_) parameter.zero_grad();
}

void SGD::step(Where where) {
  Call call(where);
  NoGrad no_grad;
  velocity_.resize(parameters_.size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Tensor change = parameters_[i].grad();
    if (!change) continue;
    if (momentum != 0) {
      if (velocity_[i]) {
        velocity_[i].mul_(momentum).add_(change);
      } else {
        velocity_[i] = change.clone();
      }
      change = velocity_[i];
    }
    parameters_[i].sub_(change, lr);
  }
}

void Adam::step(Where where) {
  Call call(where);
  NoGrad no_grad;
  if (!steps_) {
    steps_ = zeros({}, DType::kF64, device());
    for (const Tensor& parameter : parameters_) {
      mean_.push_back(zeros(parameter.sizes(), parameter.dtype(), parameter.device()));
      square_.push_back(zeros(parameter.sizes(), parameter.dtype(), parameter.device()));
    }
  }
  steps_.add_(1);
  const Tensor base = zeros({}, steps_.dtype(), steps_.device());
  const Tensor mean_part = 1 - pow(base + beta1, steps_);
  const Tensor square_part = sqrt(1 - pow(base + beta2, steps_));
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor grad = parameters_[i].grad();
    if (!grad) continue;
    mean_[i].mul_(beta1).add_(grad, 1 - beta1);
    square_[i].mul_(beta2).add_(grad * grad, 1 - beta2);
    const Tensor size = sqrt(square_[i]) / square_part + eps;
    parameters_[i].sub_(mean_[i] / size / mean_part, lr);
  }
}

}  // namespace optim

void optimizer_step(optim::Optimizer& optimizer, bool barrier, Where where) {
  Call call(where);
  optimizer.step();
  if (barrier) mark_step(optimizer.device(), where);
}

}  // namespace xlaprof::lazy
