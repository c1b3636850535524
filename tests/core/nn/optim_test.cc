// Tests optimizers against their formulas, written out in f64.
#include "core/nn/optim.h"

#include <gtest/gtest.h>

#include <cmath>

namespace xlaprof::lazy {
namespace {

constexpr int kSteps = 12;
const std::vector<double> kFirst{0.5, -1, 2};

std::vector<double> GradientOf(int step) {
  return {std::sin(step + 1.), 0.1 * step - 0.4, 3 * std::cos(2. * step)};
}

// Returns the weights after each step with `optimizer`. Each step is computed, so that the
// optimizer's state goes through the device's memory.
std::vector<std::vector<double>> Train(const Tensor& weights, optim::Optimizer& optimizer) {
  std::vector<std::vector<double>> seen;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<double> gradient = GradientOf(step);
    optimizer.zero_grad();
    sum(weights * Tensor::FromHost(std::span(gradient), {3})).backward();
    optimizer_step(optimizer, /*barrier=*/true);
    const HostTensor host = weights.to_cpu();
    const auto values = host.values<double>();
    seen.emplace_back(values.begin(), values.end());
  }
  return seen;
}

// Compares with `update`, which gets the weight's number, the step from 1 and the gradient, and
// changes the weight.
template <class Update>
void ExpectFormula(const std::vector<std::vector<double>>& seen, Update&& update) {
  std::vector<double> weights = kFirst;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<double> gradient = GradientOf(step);
    for (size_t i = 0; i < weights.size(); ++i) {
      update(i, step + 1, gradient[i], weights[i]);
      EXPECT_NEAR(seen[size_t(step)][i], weights[i], 1e-14) << "weight " << i << ", step " << step;
    }
  }
}

Tensor First() { return Tensor::FromHost(std::span(kFirst), {3}).requires_grad_(); }

TEST(Optimizer, SgdFollowsItsFormula) {
  const Tensor weights = First();
  optim::SGD optimizer({weights}, /*lr=*/0.1);
  ExpectFormula(Train(weights, optimizer),
                [](size_t, int, double gradient, double& weight) { weight -= 0.1 * gradient; });
}

TEST(Optimizer, MomentumFollowsItsFormula) {
  const Tensor weights = First();
  optim::SGD optimizer({weights}, /*lr=*/0.1, /*momentum=*/0.9);
  std::vector<double> velocity(3, 0);
  ExpectFormula(Train(weights, optimizer), [&](size_t i, int, double gradient, double& weight) {
    velocity[i] = 0.9 * velocity[i] + gradient;
    weight -= 0.1 * velocity[i];
  });
}

TEST(Optimizer, AdamFollowsItsFormula) {
  const Tensor weights = First();
  optim::Adam optimizer({weights}, /*lr=*/0.1, /*beta1=*/0.9, /*beta2=*/0.99, /*eps=*/1e-8);
  std::vector<double> mean(3, 0), square(3, 0);
  ExpectFormula(Train(weights, optimizer),
                [&](size_t i, int step, double gradient, double& weight) {
                  mean[i] = 0.9 * mean[i] + 0.1 * gradient;
                  square[i] = 0.99 * square[i] + 0.01 * gradient * gradient;
                  const double true_mean = mean[i] / (1 - std::pow(0.9, step));
                  const double true_square = square[i] / (1 - std::pow(0.99, step));
                  weight -= 0.1 * true_mean / (std::sqrt(true_square) + 1e-8);
                });
}

TEST(Optimizer, LeavesAloneWhatHasNoGradient) {
  Tensor used = ones({2}).requires_grad_();
  const Tensor unused = ones({2}).requires_grad_();
  optim::Adam optimizer({unused, used}, 0.1);
  sum(used * 2).backward();
  optimizer_step(optimizer, /*barrier=*/true);
  EXPECT_EQ(unused.to_cpu().values<float>()[0], 1);
  EXPECT_NE(used.to_cpu().values<float>()[0], 1);
}

TEST(Optimizer, MarksTheStepOfItsParametersDevice) {
  static Device& device = *new Device("NULL:0", MakeNullBackend());
  Tensor weights = ones({2}, DType::kF32, device).requires_grad_();
  mark_step(device);
  optim::SGD optimizer({weights}, 0.1);
  sum(weights * 2).backward();
  const int64_t before = num_cached_graphs(device);
  optimizer_step(optimizer, /*barrier=*/true);
  EXPECT_EQ(num_cached_graphs(device), before + 1);
}

}  // namespace
}  // namespace xlaprof::lazy
