#include "examples/diffusion/scheduler.h"

#include <cmath>

#include "core/trace/functions.h"

namespace xlaprof::examples {

using namespace lazy;

namespace {

constexpr int64_t kTimesteps = 1000;

Tensor FromReals(const std::vector<float>& values) {
  return Tensor::FromHost(std::span(values), {int64_t(values.size())});
}

}  // namespace

const std::vector<double>& NoiseOfTimesteps() {
  static const std::vector<double>& sigmas = *[] {
    auto* all = new std::vector<double>;
    double kept = 1;  // of the image's variance
    for (int64_t t = 0; t < kTimesteps; ++t) {
      // The roots of the variances are at equal distances.
      const double root =
          std::lerp(std::sqrt(0.00085), std::sqrt(0.012), double(t) / (kTimesteps - 1));
      kept *= 1 - root * root;
      all->push_back(std::sqrt((1 - kept) / kept));
    }
    return all;
  }();
  return sigmas;
}

Tensor Scaled(const Tensor& images, const Tensor& sigma) {
  return images * rsqrt(sigma * sigma + 1);
}

Scheduler::Scheduler(int64_t steps) {
  std::vector<float> timesteps, sigmas;
  for (int64_t i = steps; i-- > 0;) {
    const int64_t t = steps == 1 ? kTimesteps - 1 : i * (kTimesteps - 1) / (steps - 1);
    timesteps.push_back(float(t));
    sigmas.push_back(float(NoiseOfTimesteps()[size_t(t)]));
  }
  first_sigma_ = sigmas.front();
  sigmas.push_back(0);
  timesteps_ = FromReals(timesteps), sigmas_ = FromReals(sigmas);
}

SchedulerByValue::SchedulerByValue(int64_t steps) : Scheduler(steps) {
  for (const Tensor& timestep : split(timesteps_, 1)) each_.push_back(timestep.clone());
}

int64_t SchedulerByValue::IndexOf(const Tensor& timestep) const {
  return int64_t(nonzero(eq(timesteps_, timestep)).item());
}

Tensor SchedulerByValue::Input(const Tensor& images) const {
  return Scaled(images, sigmas_[IndexOf(each_[step_])]);
}

Tensor SchedulerByValue::Step(const Tensor& noise, const Tensor& images) {
  const int64_t index = IndexOf(each_[step_++]);
  return images + noise * (sigmas_[index + 1] - sigmas_[index]);
}

SchedulerByIndex::SchedulerByIndex(int64_t steps)
    : Scheduler(steps), first_(zeros({1}, DType::kI64)) {}

Tensor SchedulerByIndex::Timestep() const { return index_select(timesteps_, 0, index_); }

Tensor SchedulerByIndex::Input(const Tensor& images) const {
  return Scaled(images, index_select(sigmas_, 0, index_));
}

Tensor SchedulerByIndex::Step(const Tensor& noise, const Tensor& images) {
  const Tensor sigma = index_select(sigmas_, 0, index_);
  index_ = index_ + 1;
  return images + noise * (index_select(sigmas_, 0, index_) - sigma);
}

}  // namespace xlaprof::examples
