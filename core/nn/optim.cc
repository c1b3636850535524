#include "core/nn/optim.h"

#include "core/exec/call.h"
#include "core/trace/collective.h"

namespace xlaprof::lazy {
namespace optim {

Optimizer::Optimizer(std::vector<Tensor> parameters) : parameters_(std::move(parameters)) {
  if (parameters_.empty()) Raise("the optimizer has no parameters");
}

void Optimizer::zero_grad() {
  for (Tensor& parameter : parameters_) parameter.zero_grad();
}

void SGD::step(Where where) {
  OpCall call(where);
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
  OpCall call(where);
  NoGrad no_grad;
  if (mean_.empty()) {
    clock_of_.resize(parameters_.size(), kNoClock);
    for (const Tensor& parameter : parameters_) {
      mean_.push_back(zeros(parameter.sizes(), parameter.dtype(), parameter.device()));
      square_.push_back(zeros(parameter.sizes(), parameter.dtype(), parameter.device()));
    }
  }
  SetClocks();
  std::vector<std::pair<Tensor, Tensor>> parts;  // the corrections, by clock
  for (Tensor& clock : clocks_) {
    const Tensor base = zeros({}, clock.dtype(), clock.device());
    parts.emplace_back(1 - pow(base + beta1, clock), sqrt(1 - pow(base + beta2, clock)));
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor grad = parameters_[i].grad();
    if (!grad) continue;
    const auto& [mean_part, square_part] = parts[clock_of_[i]];
    mean_[i].mul_(beta1).add_(grad, 1 - beta1);
    square_[i].mul_(beta2).add_(grad * grad, 1 - beta2);
    const Tensor size = sqrt(square_[i]) / square_part + eps;
    parameters_[i].sub_(mean_[i] / size / mean_part, lr);
  }
}

// Counts the steps in which each parameter had a gradient. Parameters that always had theirs
// together share a clock.
void Adam::SetClocks() {
  std::map<size_t, std::vector<size_t>> run, rest;  // by clock: with a gradient, without
  for (size_t i = 0; i < parameters_.size(); ++i)
    (parameters_[i].grad() ? run : rest)[clock_of_[i]].push_back(i);
  for (const auto& [clock, parameters] : run) {
    size_t own = clock;
    if (clock == kNoClock || rest.contains(clock)) {
      own = clocks_.size();
      clocks_.push_back(clock == kNoClock ? zeros({}, DType::kF64, device())
                                          : clocks_[clock].clone());
      for (size_t i : parameters) clock_of_[i] = own;
    }
    clocks_[own].add_(1);
  }
}

}  // namespace optim

void reduce_gradients(optim::Optimizer& optimizer, Where where) {
  OpCall call(where);
  const int64_t ranks = world_size(optimizer.device());
  if (ranks == 1) return;
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : optimizer.parameters()) {
    if (Tensor gradient = parameter.grad()) gradients.push_back(gradient);
  }
  all_reduce_(ReduceOp::kSum, gradients, 1.0 / double(ranks));
}

void optimizer_step(optim::Optimizer& optimizer, bool barrier, Where where) {
  Call call(where);
  reduce_gradients(optimizer);
  optimizer.step();
  if (barrier) mark_step(optimizer.device(), where);
}

}  // namespace xlaprof::lazy
