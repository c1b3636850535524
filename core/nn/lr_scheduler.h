// Learning-rate schedulers, with PyTorch's names, defaults and numbers.
//
//   optim::CosineAnnealingLR scheduler(optimizer, /*T_max=*/epochs);
//   for (...) { ...; optimizer_step(optimizer, /*barrier=*/true); scheduler.step(); }
//
// A scheduler computes the learning rates on the host. A new rate does not make another graph. Each
// scheduler changes the rates that it finds, so several of them can be stepped in turn. The
// optimizer must live longer than its schedulers.
#pragma once

#include <functional>

#include "core/nn/optim.h"

namespace xlaprof::lazy::optim {

class LRScheduler {
 public:
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;

  // Sets the learning rate of each group for the next epoch (or step, if it is called after each).
  void step();
  // Returns the learning rates of the groups, as this scheduler set them last.
  const std::vector<double>& get_last_lr() const { return last_lr_; }

  // Returns "last_epoch", "base_lrs" and "last_lr".
  State state_dict() const;
  // Continues from this state, and sets the optimizer's learning rates to those that it had. If a
  // name or a shape does not match, raises an Error and changes nothing.
  void load_state_dict(const State& state, Where where = Where::current());

 protected:
  // The derived class calls step() at the end of its constructor, which sets the rates of epoch 0.
  explicit LRScheduler(Optimizer& optimizer);
  int64_t last_epoch() const { return last_epoch_; }

 private:
  // Returns the learning rate of the epoch last_epoch(), which follows on `lr`. `base_lr` is the
  // rate that the group had when the scheduler was made.
  virtual double Next(double lr, double base_lr) const = 0;

  Optimizer& optimizer_;
  int64_t last_epoch_ = -1;
  std::vector<double> base_lrs_, last_lr_;  // per group
};

// Multiplies the rate by `gamma` after each `step_size` epochs.
class StepLR final : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1,
         Where where = Where::current());

 private:
  double Next(double lr, double base_lr) const override;
  const int64_t step_size_;
  const double gamma_;
};

// Multiplies the rate by `gamma` in each of the epochs `milestones`. An epoch may occur twice.
class MultiStepLR final : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 private:
  double Next(double lr, double base_lr) const override;
  const std::vector<int64_t> milestones_;
  const double gamma_;
};

// Leads from start_factor * base_lr to end_factor * base_lr in `total_iters` equal steps.
class LinearLR final : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    int64_t total_iters = 5, Where where = Where::current());

 private:
  double Next(double lr, double base_lr) const override;
  const double start_, end_;
  const int64_t total_iters_;
};

// Leads from base_lr to `eta_min` in T_max epochs along half a period of a cosine, and back in the
// next T_max.
class CosineAnnealingLR final : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0,
                    Where where = Where::current());

 private:
  double Next(double lr, double base_lr) const override;
  const int64_t t_max_;
  const double eta_min_;
};

// Sets the rate to base_lr * lr_lambda(epoch).
class LambdaLR final : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, std::function<double(int64_t epoch)> lr_lambda);

 private:
  double Next(double lr, double base_lr) const override;
  const std::function<double(int64_t)> lr_lambda_;
};

struct ReduceLROnPlateauOptions {
  enum Mode : uint8_t { kMin, kMax };           // whether smaller or larger metrics are better
  enum ThresholdMode : uint8_t { kRel, kAbs };  // how `threshold` is compared
  Mode mode = kMin;
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  ThresholdMode threshold_mode = kRel;
  int64_t cooldown = 0;
  double min_lr = 0, eps = 1e-8;
};

// Multiplies the rates by `factor` if the metric did not improve in more than `patience` epochs.
class ReduceLROnPlateau final {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options = {},
                             Where where = Where::current());
  // Takes the metric of an epoch. Reading it from a device waits for the device.
  void step(double metric);

  // Returns "best", "num_bad_epochs" and "cooldown_counter". The optimizer's state has the rates.
  State state_dict() const;
  void load_state_dict(const State& state, Where where = Where::current());

 private:
  bool IsBetter(double metric) const;

  Optimizer& optimizer_;
  const ReduceLROnPlateauOptions options_;
  double best_;
  int64_t bad_epochs_ = 0, cooldown_left_ = 0;
};

}  // namespace xlaprof::lazy::optim
