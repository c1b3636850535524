// Removes the noise from images in steps, by Euler's method, as EulerDiscreteScheduler of diffusers
// does.
#pragma once

#include <memory>
#include <vector>

#include "core/trace/tensor.h"

namespace xlaprof::examples {

// Returns how much noise an image has at each timestep, from 0 to 999.
const std::vector<double>& NoiseOfTimesteps();

// Returns noisy images as the network takes them: with the variance of images without noise.
lazy::Tensor Scaled(const lazy::Tensor& images, const lazy::Tensor& sigma);

class Scheduler {
 public:
  explicit Scheduler(int64_t steps);
  virtual ~Scheduler() = default;

  // The noise of the images in the first step.
  double first_sigma() const { return first_sigma_; }
  // Begins with the first step.
  virtual void Begin() = 0;
  // Returns the timestep [1] that the network is told in this step.
  virtual lazy::Tensor Timestep() const = 0;
  // Returns the images of this step as the network takes them.
  virtual lazy::Tensor Input(const lazy::Tensor& images) const = 0;
  // Removes a part of the noise that the network found. The next step begins.
  virtual lazy::Tensor Step(const lazy::Tensor& noise, const lazy::Tensor& images) = 0;

 protected:
  lazy::Tensor timesteps_, sigmas_;  // [steps], descending, and [steps + 1], with 0 as the last

 private:
  double first_sigma_;
};

// Is given a timestep, as schedulers of diffusers are, and finds its index by reading it.
class SchedulerByValue final : public Scheduler {
 public:
  explicit SchedulerByValue(int64_t steps);
  void Begin() override { step_ = 0; }
  lazy::Tensor Timestep() const override { return each_[step_]; }
  lazy::Tensor Input(const lazy::Tensor& images) const override;
  lazy::Tensor Step(const lazy::Tensor& noise, const lazy::Tensor& images) override;

 private:
  int64_t IndexOf(const lazy::Tensor& timestep) const;

  std::vector<lazy::Tensor> each_;  // timesteps_, as one tensor for each
  size_t step_ = 0;
};

// Keeps the index as a tensor, so that nothing is read, and all steps have the same graph.
class SchedulerByIndex final : public Scheduler {
 public:
  explicit SchedulerByIndex(int64_t steps);
  void Begin() override { index_ = first_; }
  lazy::Tensor Timestep() const override;
  lazy::Tensor Input(const lazy::Tensor& images) const override;
  lazy::Tensor Step(const lazy::Tensor& noise, const lazy::Tensor& images) override;

 private:
  lazy::Tensor first_, index_;
};

}  // namespace xlaprof::examples
