// Optimizers: step() writes the parameters in place, as part of the graph.
#pragma once

#include "core/trace/functions.h"
#include "core/trace/step.h"

namespace xlaprof::lazy::optim {

class Optimizer {
 public:
  // Raises where there are none.
  explicit Optimizer(std::vector<Tensor> parameters);
  virtual ~Optimizer() = default;
  virtual void step(Where where = Where::current()) = 0;
  void zero_grad();
  // Of its parameters; there is one at least.
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
  std::vector<Tensor> velocity_;  // of each parameter; none before the first step
};

class Adam final : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> parameters, double lr = 1e-3, double beta1 = 0.9,
                double beta2 = 0.999, double eps = 1e-8)
      : Optimizer(std::move(parameters)), lr(lr), beta1(beta1), beta2(beta2), eps(eps) {}
  void step(Where where = Where::current()) override;
  double lr, beta1, beta2, eps;

 private:
  // On the device: a number on the host would be sent each step. Of a type that XLA_USE_BF16, which
  // has no 257 and no 0.999, leaves alone.
  std::vector<Tensor> clocks_;
  static constexpr size_t kNoClock = SIZE_MAX;
  std::vector<size_t> clock_of_;  // each parameter's in clocks_; kNoClock: it had no gradient yet
  std::vector<Tensor> mean_, square_;
  void SetClocks();
};

}  // namespace xlaprof::lazy::optim

namespace xlaprof::lazy {
// The optimizer's step; `barrier`: and a step mark, where no loader makes it.
void optimizer_step(optim::Optimizer& optimizer, bool barrier = false,
                    Where where = Where::current());
}  // namespace xlaprof::lazy
