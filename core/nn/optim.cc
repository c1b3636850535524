#include "core/nn/optim.h"

#include <algorithm>
#include <set>

#include "core/exec/call.h"
#include "core/trace/collective.h"
#include "core/trace/wide.h"

namespace xlaprof::lazy {
namespace optim {
namespace {

Tensor SentNumber(double value, DType type, Device& device) {
  const float narrow = float(value);
  return type == DType::kF64 ? Tensor::FromHost(std::span<const double>(&value, 1), {}, device)
                             : Tensor::FromHost(std::span<const float>(&narrow, 1), {}, device);
}

std::string StateName(size_t parameter, std::string_view name) {
  return fmt::format("state.{}.{}", parameter, name);
}
std::string GroupName(size_t group, std::string_view name) {
  return fmt::format("param_groups.{}.{}", group, name);
}

void ExpectAtLeast0(std::string_view optimizer, std::string_view option, double value) {
  if (!(value >= 0)) RaiseHere("{}: {} is {}, but it must be at least 0", optimizer, option, value);
}
void ExpectShare(std::string_view optimizer, std::string_view option, double value) {
  if (!(value >= 0 && value < 1)) {
    RaiseHere("{}: {} is {}, but it must be at least 0 and less than 1", optimizer, option, value);
  }
}

}  // namespace

Optimizer::Optimizer(std::vector<Tensor> params, double lr, double weight_decay, Where where) {
  add_param_group(std::move(params), {.lr = lr, .weight_decay = weight_decay}, where);
}

void Optimizer::add_param_group(std::vector<Tensor> params, GroupOptions options, Where where) {
  Call call(where);
  if (params.empty())
    RaiseHere("{}", param_groups.empty() ? "the optimizer has no parameters"
                                         : "the group has no parameters");
  ParamGroup group{.params = std::move(params), .lr = 0, .weight_decay = 0};
  group.lr = options.lr ? *options.lr : param_groups.front().lr;
  group.weight_decay =
      options.weight_decay ? *options.weight_decay : param_groups.front().weight_decay;
  ExpectAtLeast0("an optimizer", "lr", group.lr);
  ExpectAtLeast0("an optimizer", "weight_decay", group.weight_decay);
  std::set<const TensorImpl*> known;
  for (const ParamGroup& other : param_groups) {
    for (const Tensor& param : other.params) known.insert(param.impl());
  }
  for (const Tensor& param : group.params) {
    if (!known.insert(param.impl()).second)
      RaiseHere("an optimizer was given the same parameter twice: {}",
                Shape{param.dtype(), param.sizes()}.ToText());
  }
  state_.resize(state_.size() + group.params.size());
  param_groups.push_back(std::move(group));
  numbers_.emplace_back();
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all;
  for (const ParamGroup& group : param_groups) {
    all.insert(all.end(), group.params.begin(), group.params.end());
  }
  return all;
}

void Optimizer::zero_grad() {
  for (ParamGroup& group : param_groups) {
    for (Tensor& param : group.params) param.zero_grad();
  }
}

const Tensor& Optimizer::Number::For(const Tensor& like, double value) {
  if (value != value_) sent_.clear();
  value_ = value;
  for (const Tensor& sent : sent_) {
    if (&sent.device() == &like.device() && sent.dtype() == like.dtype()) return sent;
  }
  return sent_.emplace_back(SentNumber(value, like.dtype(), like.device()));
}

std::vector<Optimizer::Trained> Optimizer::AllTrained() {
  std::vector<Trained> trained;
  size_t index = 0;
  for (size_t i = 0; i < param_groups.size(); ++i) {
    for (const Tensor& param : param_groups[i].params) {
      if (const Tensor grad = param.grad(); grad.defined()) {
        trained.push_back({.index = index,
                           .group = &param_groups[i],
                           .lr = &numbers_[i].lr,
                           .decay = &numbers_[i].decay,
                           .param = param,
                           .grad = Wide(grad)});
      }
      ++index;
    }
  }
  return trained;
}

State Optimizer::state_dict() const {
  State state;
  for (size_t i = 0; i < state_.size(); ++i) {
    for (const auto& [name, tensor] : state_[i]) state[StateName(i, name)] = tensor;
  }
  for (size_t i = 0; i < param_groups.size(); ++i) {
    const ParamGroup& group = param_groups[i];
    const std::pair<const char*, double> numbers[] = {{"lr", group.lr},
                                                      {"weight_decay", group.weight_decay}};
    for (const auto& [name, value] : numbers)
      state[GroupName(i, name)] = SentNumber(value, DType::kF64, device());
  }
  return state;
}

void Optimizer::load_state_dict(const State& state, Where where) {
  Call call(where);
  std::string wrong;
  std::set<std::string, std::less<>> known;
  auto find = [&](const std::string& name, const Dims& sizes) -> const Tensor* {
    known.insert(name);
    const auto found = state.find(name);
    if (found == state.end()) {
      wrong += fmt::format("\n  {} is missing", name);
      return nullptr;
    }
    if (found->second.sizes() != sizes) {
      wrong += fmt::format("\n  {} has sizes {}, not {}", name, SizesText(found->second.sizes()),
                           SizesText(sizes));
    }
    return &found->second;
  };
  NoGrad no_grad;
  std::vector<State> loaded(state_.size());
  std::vector<ParamGroup> groups = param_groups;
  size_t index = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::pair<const char*, double*> numbers[] = {{"lr", &groups[i].lr},
                                                       {"weight_decay", &groups[i].weight_decay}};
    for (const auto& [name, value] : numbers) {
      const Tensor* tensor = find(GroupName(i, name), {});
      if (tensor != nullptr && tensor->numel() == 1) *value = tensor->to_cpu().Real(0);
    }
    for (const Tensor& param : groups[i].params) {
      // A parameter without a gradient so far has no state.
      const std::string first = StateName(index, "");
      const auto at = state.lower_bound(first);
      if (at != state.end() && at->first.starts_with(first)) {
        for (const auto& [name, shape] : ShapesOfState(param)) {
          if (const Tensor* tensor = find(StateName(index, name), shape.dims))
            loaded[index][name] = tensor->to(param.device()).to(shape.dtype).clone();
        }
      }
      ++index;
    }
  }
  for (const auto& [name, tensor] : state) {
    if (!known.contains(name)) wrong += fmt::format("\n  {} is not part of it", name);
  }
  if (!wrong.empty()) RaiseHere("load_state_dict: the state belongs to another optimizer{}", wrong);
  param_groups = std::move(groups);
  state_ = std::move(loaded);
  ShareState();
}

// --- SGD ---

SGD::SGD(std::vector<Tensor> params, const SGDOptions& options, Where where)
    : Optimizer(std::move(params), options.lr, options.weight_decay, where), options_(options) {
  Call call(where);
  ExpectAtLeast0("SGD", "momentum", options.momentum);
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    RaiseHere("SGD: nesterov needs a momentum above 0, and a dampening of 0");
}

std::map<std::string, Shape> SGD::ShapesOfState(const Tensor& param) const {
  if (options_.momentum == 0) return {};
  return {{"momentum_buffer", {param.dtype(), param.sizes()}}};
}

void SGD::step(Where where) {
  OpCall call(where);
  NoGrad no_grad;
  for (Trained& trained : AllTrained()) {
    const ParamGroup& group = *trained.group;
    const Tensor weights = Wide(trained.param);
    Tensor change = trained.grad;
    if (group.weight_decay != 0) change = change + weights * group.weight_decay;
    if (options_.momentum != 0) {
      Tensor& buffer = state_[trained.index]["momentum_buffer"];
      if (!buffer.defined()) {
        buffer = change.to(trained.param.dtype()).clone();
      } else {
        const Tensor added = options_.dampening == 0 ? change : change * (1 - options_.dampening);
        buffer.copy_(Wide(buffer) * options_.momentum + added);
      }
      change = options_.nesterov ? change + Wide(buffer) * options_.momentum : Wide(buffer);
    }
    trained.param.copy_(weights - change * trained.lr->For(weights, group.lr));
  }
}

// --- Adam ---

Adam::Adam(std::vector<Tensor> params, const AdamOptions& options, bool is_decoupled, Where where)
    : Optimizer(std::move(params), options.lr,
                options.weight_decay.value_or(is_decoupled ? 1e-2 : 0), where),
      options_(options),
      is_decoupled_(is_decoupled) {
  Call call(where);
  ExpectShare("Adam", "beta1", options.beta1);
  ExpectShare("Adam", "beta2", options.beta2);
  ExpectAtLeast0("Adam", "eps", options.eps);
}

std::map<std::string, Shape> Adam::ShapesOfState(const Tensor& param) const {
  const Shape like{param.dtype(), param.sizes()};
  return {{"exp_avg", like}, {"exp_avg_sq", like}, {"step", {DType::kF64, {}}}};
}

// The counters are on the device, because a number on the host would be sent in each step.
// XLA_USE_BF16 does not change their type, because bf16 can represent neither 257 nor 0.999.
std::vector<Adam::Corrections> Adam::Count(const std::vector<Trained>& trained) {
  std::vector<bool> runs(state_.size(), false);
  for (const Trained& one : trained) runs[one.index] = true;
  // Returns whether a parameter without a gradient has this counter, too.
  auto rests = [&](const Tensor& count) {
    for (size_t i = 0; i < state_.size(); ++i) {
      const auto found = runs[i] ? state_[i].end() : state_[i].find("step");
      if (found != state_[i].end() && found->second.impl() == count.impl()) return true;
    }
    return false;
  };
  std::vector<Corrections> all;
  for (const Trained& one : trained) {
    Tensor& count = state_[one.index]["step"];
    auto known = std::ranges::find_if(all, [&](const Corrections& corrections) {
      return corrections.before.impl() == count.impl() &&
             &corrections.count.device() == &one.param.device();
    });
    if (known == all.end()) {
      Tensor next = !count.defined() ? zeros({}, DType::kF64, one.param.device())
                    : rests(count)   ? count.clone()
                                     : count;
      next.add_(1);
      const Tensor base = zeros({}, DType::kF64, one.param.device());
      all.push_back({.before = count,
                     .count = next,
                     .mean = 1 - pow(base + options_.beta1, next),
                     .square = sqrt(1 - pow(base + options_.beta2, next))});
      known = all.end() - 1;
    }
    count = known->count;
  }
  return all;
}

void Adam::ShareState() {
  std::map<std::pair<Device*, double>, Tensor> counts;
  for (State& state : state_) {
    const auto found = state.find("step");
    if (found == state.end()) continue;
    Tensor& count = found->second;
    count = counts.try_emplace({&count.device(), count.to_cpu().Real(0)}, count).first->second;
  }
}

void Adam::step(Where where) {
  OpCall call(where);
  NoGrad no_grad;
  std::vector<Trained> all = AllTrained();
  const std::vector<Corrections> corrections = Count(all);
  for (Trained& trained : all) {
    const ParamGroup& group = *trained.group;
    Tensor weights = Wide(trained.param), grad = trained.grad;
    if (group.weight_decay != 0) {
      if (is_decoupled_) {
        weights = weights * trained.decay->For(weights, 1 - group.lr * group.weight_decay);
      } else {
        grad = grad + weights * group.weight_decay;
      }
    }
    State& state = state_[trained.index];
    Tensor &mean = state["exp_avg"], &square = state["exp_avg_sq"];
    for (Tensor* moment : {&mean, &square}) {
      if (!moment->defined())
        *moment = zeros(trained.param.sizes(), trained.param.dtype(), trained.param.device());
    }
    const TensorImpl* count = state["step"].impl();
    const Corrections& corrected = *std::ranges::find_if(
        corrections, [&](const Corrections& of) { return of.count.impl() == count; });
    mean.copy_(Wide(mean) * options_.beta1 + grad * (1 - options_.beta1));
    square.copy_(Wide(square) * options_.beta2 + grad * grad * (1 - options_.beta2));
    const Tensor size = sqrt(Wide(square)) / corrected.square + options_.eps;
    trained.param.copy_(weights -
                        Wide(mean) / size / corrected.mean * trained.lr->For(weights, group.lr));
  }
}

}  // namespace optim

void reduce_gradients(optim::Optimizer& optimizer, Where where) {
  OpCall call(where);
  const int64_t ranks = world_size(optimizer.device());
  if (ranks == 1) return;
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : optimizer.parameters()) {
    if (Tensor gradient = parameter.grad(); gradient.defined()) gradients.push_back(gradient);
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
