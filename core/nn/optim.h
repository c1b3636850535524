// Optimizers. step() writes the parameters in place, as part of the graph.
#pragma once

#include "core/trace/functions.h"
#include "core/trace/step.h"

namespace xlaprof::lazy::optim {

class Optimizer {
 public:
  // Raises an Error if there are no parameters.
  explicit Optimizer(std::vector<Tensor> parameters);
  virtual ~Optimizer() = default;
  virtual void step(Where where = Where::current()) = 0;
  void zero_grad();
  const std::vector<Tensor>& parameters() const { return parameters_; }
  // Returns the device of its parameters.
  Device& device() const { return parameters_.front().device(); }

 protected:
  std::vector<Tensor> parameters_;
};

class SGD final : public Optimizer {
 public:
  SGD(std::vector<Tensor> parameters, double lr, double momentum = 0)
      : Optimizer(std::move(parameters)), lr(lr), momentum(momentum) {}
  void step(Where where = Where::current()) override;
  double lr, momentum;

 private:
  std::vector<Tensor> velocity_;  // per parameter; empty before its first gradient
};

class Adam final : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> parameters, double lr = 1e-3, double beta1 = 0.9,
                double beta2 = 0.999, double eps = 1e-8)
      : Optimizer(std::move(parameters)), lr(lr), beta1(beta1), beta2(beta2), eps(eps) {}
  void step(Where where = Where::current()) override;
  double lr, beta1, beta2, eps;

 private:
  // The clocks are on the device, because a number on the host would be sent in each step.
  // XLA_USE_BF16 does not change their type, because bf16 can represent neither 257 nor 0.999.
  std::vector<Tensor> clocks_;
  static constexpr size_t kNoClock = SIZE_MAX;
  std::vector<size_t> clock_of_;  // each parameter's index in clocks_; kNoClock: no gradient yet
  std::vector<Tensor> mean_, square_;
  void SetClocks();
};

}  // namespace xlaprof::lazy::optim

namespace xlaprof::lazy {
// Replaces the gradients of the optimizer's parameters by their means over all ranks, in place and
// in one exchange per type. Does nothing if there is one rank.
void reduce_gradients(optim::Optimizer& optimizer, Where where = Where::current());
// Reduces the gradients and makes the optimizer's step. If `barrier`, also makes a step mark, for
// loops without a loader that does.
void optimizer_step(optim::Optimizer& optimizer, bool barrier = false,
                    Where where = Where::current());
}  // namespace xlaprof::lazy
