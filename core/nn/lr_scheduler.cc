#include "core/nn/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/exec/call.h"

namespace xlaprof::lazy::optim {
namespace {

constexpr double kPi = std::numbers::pi;

Tensor SentNumbers(const std::vector<double>& values, Device& device) {
  return Tensor::FromHost(std::span<const double>(values), {int64_t(values.size())}, device);
}

// Returns the numbers of these names, `count` each. Raises an Error if the state has others.
std::vector<std::vector<double>> NumbersOf(
    const State& state, std::initializer_list<std::pair<std::string_view, size_t>> expected) {
  std::string wrong;
  std::vector<std::vector<double>> all;
  for (const auto& [name, count] : expected) {
    const auto found = state.find(name);
    if (found == state.end()) {
      wrong += fmt::format("\n  {} is missing", name);
      continue;
    }
    const Tensor& tensor = found->second;
    if (tensor.sizes() != Dims{int64_t(count)}) {
      wrong += fmt::format("\n  {} has sizes {}, not [{}]", name, SizesText(tensor.sizes()), count);
      continue;
    }
    const HostTensor host = tensor.to_cpu();
    for (std::vector<double>& values = all.emplace_back(); values.size() < count;)
      values.push_back(host.Real(int64_t(values.size())));
  }
  for (const auto& [name, tensor] : state) {
    if (std::ranges::none_of(expected, [&](const auto& known) { return known.first == name; }))
      wrong += fmt::format("\n  {} is not part of it", name);
  }
  if (!wrong.empty()) RaiseHere("load_state_dict: the state belongs to another scheduler{}", wrong);
  return all;
}

void ExpectPositive(std::string_view scheduler, std::string_view option, int64_t value) {
  if (value < 1) RaiseHere("{}: {} is {}, but it must be at least 1", scheduler, option, value);
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (const ParamGroup& group : optimizer.param_groups) base_lrs_.push_back(group.lr);
}

void LRScheduler::step() {
  ++last_epoch_;
  // A group that was added later begins with the rate that it has now.
  for (size_t i = base_lrs_.size(); i < optimizer_.param_groups.size(); ++i)
    base_lrs_.push_back(optimizer_.param_groups[i].lr);
  last_lr_.clear();
  for (size_t i = 0; i < base_lrs_.size(); ++i) {
    double& lr = optimizer_.param_groups[i].lr;
    last_lr_.push_back(lr = Next(lr, base_lrs_[i]));
  }
}

State LRScheduler::state_dict() const {
  Device& device = optimizer_.device();
  return {{"last_epoch", SentNumbers({double(last_epoch_)}, device)},
          {"base_lrs", SentNumbers(base_lrs_, device)},
          {"last_lr", SentNumbers(last_lr_, device)}};
}

void LRScheduler::load_state_dict(const State& state, Where where) {
  Call call(where);
  const size_t groups = optimizer_.param_groups.size();
  const auto numbers =
      NumbersOf(state, {{"last_epoch", 1}, {"base_lrs", groups}, {"last_lr", groups}});
  last_epoch_ = int64_t(numbers[0][0]);
  base_lrs_ = numbers[1];
  last_lr_ = numbers[2];
  for (size_t i = 0; i < groups; ++i) optimizer_.param_groups[i].lr = last_lr_[i];
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma, Where where)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  Call call(where);
  ExpectPositive("StepLR", "step_size", step_size);
  step();
}

double StepLR::Next(double lr, double) const {
  return last_epoch() == 0 || last_epoch() % step_size_ != 0 ? lr : lr * gamma_;
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  step();
}

double MultiStepLR::Next(double lr, double) const {
  const auto times = std::ranges::count(milestones_, last_epoch());
  return times == 0 ? lr : lr * std::pow(gamma_, double(times));
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   int64_t total_iters, Where where)
    : LRScheduler(optimizer), start_(start_factor), end_(end_factor), total_iters_(total_iters) {
  Call call(where);
  if (!(start_factor > 0 && start_factor <= 1))
    RaiseHere("LinearLR: start_factor is {}, but it must be above 0 and at most 1", start_factor);
  if (!(end_factor >= 0 && end_factor <= 1))
    RaiseHere("LinearLR: end_factor is {}, but it must be from 0 to 1", end_factor);
  ExpectPositive("LinearLR", "total_iters", total_iters);
  step();
}

double LinearLR::Next(double lr, double) const {
  if (last_epoch() == 0) return lr * start_;
  if (last_epoch() > total_iters_) return lr;
  return lr * (1 + (end_ - start_) / (double(total_iters_) * start_ +
                                      double(last_epoch() - 1) * (end_ - start_)));
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min,
                                     Where where)
    : LRScheduler(optimizer), t_max_(T_max), eta_min_(eta_min) {
  Call call(where);
  ExpectPositive("CosineAnnealingLR", "T_max", T_max);
  step();
}

double CosineAnnealingLR::Next(double lr, double base_lr) const {
  const int64_t epoch = last_epoch();
  if (epoch == 0) return lr;
  // In the epoch before, the cosine was at its minimum, where the quotient below does not exist.
  if ((epoch - 1 - t_max_) % (2 * t_max_) == 0)
    return lr + (base_lr - eta_min_) * (1 - std::cos(kPi / double(t_max_))) / 2;
  return (1 + std::cos(kPi * double(epoch) / double(t_max_))) /
             (1 + std::cos(kPi * double(epoch - 1) / double(t_max_))) * (lr - eta_min_) +
         eta_min_;
}

LambdaLR::LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> lr_lambda)
    : LRScheduler(optimizer), lr_lambda_(std::move(lr_lambda)) {
  step();
}

double LambdaLR::Next(double, double base_lr) const { return base_lr * lr_lambda_(last_epoch()); }

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options,
                                     Where where)
    : optimizer_(optimizer), options_(options) {
  Call call(where);
  if (!(options.factor < 1))
    RaiseHere("ReduceLROnPlateau: factor is {}, but it must be less than 1", options.factor);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  best_ = options.mode == ReduceLROnPlateauOptions::kMin ? kInfinity : -kInfinity;
}

bool ReduceLROnPlateau::IsBetter(double metric) const {
  const bool is_min = options_.mode == ReduceLROnPlateauOptions::kMin;
  const double sign = is_min ? -1 : 1;
  const double least = options_.threshold_mode == ReduceLROnPlateauOptions::kRel
                           ? best_ * (1 + sign * options_.threshold)
                           : best_ + sign * options_.threshold;
  return is_min ? metric < least : metric > least;
}

void ReduceLROnPlateau::step(double metric) {
  if (IsBetter(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= options_.patience) return;
  for (ParamGroup& group : optimizer_.param_groups) {
    const double lr = std::max(group.lr * options_.factor, options_.min_lr);
    if (group.lr - lr > options_.eps) group.lr = lr;
  }
  cooldown_left_ = options_.cooldown;
  bad_epochs_ = 0;
}

State ReduceLROnPlateau::state_dict() const {
  Device& device = optimizer_.device();
  return {{"best", SentNumbers({best_}, device)},
          {"num_bad_epochs", SentNumbers({double(bad_epochs_)}, device)},
          {"cooldown_counter", SentNumbers({double(cooldown_left_)}, device)}};
}

void ReduceLROnPlateau::load_state_dict(const State& state, Where where) {
  Call call(where);
  const auto numbers =
      NumbersOf(state, {{"best", 1}, {"num_bad_epochs", 1}, {"cooldown_counter", 1}});
  best_ = numbers[0][0];
  bad_epochs_ = int64_t(numbers[1][0]);
  cooldown_left_ = int64_t(numbers[2][0]);
}

}  // namespace xlaprof::lazy::optim
