#include "core/nn/module.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "core/exec/call.h"
#include "core/exec/listener.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"

namespace xlaprof::lazy::nn {
namespace {

// A tensor of a module or of one of its submodules.
struct NamedTensor {
  std::string path;
  Tensor* tensor;
  Part::Kind kind;
};

void AddTensors(Module& module, const std::string& prefix,
                std::vector<NamedTensor>* named_tensors) {
  for (const Part& part : module.parts()) {
    if (part.module != nullptr) {
      AddTensors(*part.module, prefix + part.name + ".", named_tensors);
    } else if (part.tensor->defined()) {
      named_tensors->push_back({prefix + part.name, part.tensor, part.kind});
    }
  }
}

std::vector<NamedTensor> TensorsOf(Module& module) {
  std::vector<NamedTensor> named_tensors;
  AddTensors(module, "", &named_tensors);
  return named_tensors;
}

}  // namespace

std::vector<Tensor> Module::parameters() {
  std::vector<Tensor> parameters;
  for (const NamedTensor& named : TensorsOf(*this)) {
    const bool is_known = std::any_of(
        parameters.begin(), parameters.end(),
        [&](const Tensor& parameter) { return parameter.impl() == named.tensor->impl(); });
    if (named.kind == Part::kParameter && !is_known) parameters.push_back(*named.tensor);
  }
  return parameters;
}

State Module::state_dict() {
  State state;
  for (const NamedTensor& named : TensorsOf(*this)) state[named.path] = *named.tensor;
  return state;
}

void Module::load_state_dict(const State& state, Where where) {
  Call call(where);
  const std::vector<NamedTensor> named_tensors = TensorsOf(*this);
  std::string wrong;
  for (const NamedTensor& named : named_tensors) {
    const auto found = state.find(named.path);
    if (found == state.end()) {
      wrong += fmt::format("\n  {} is missing", named.path);
    } else if (found->second.sizes() != named.tensor->sizes()) {
      wrong += fmt::format("\n  {} has sizes {}, not {}", named.path,
                           SizesText(found->second.sizes()), SizesText(named.tensor->sizes()));
    }
  }
  for (const auto& [name, tensor] : state) {
    if (std::none_of(named_tensors.begin(), named_tensors.end(),
                     [&](const NamedTensor& named) { return named.path == name; }))
      wrong += fmt::format("\n  {} is not part of it", name);
  }
  if (!wrong.empty()) RaiseHere("load_state_dict: the state belongs to another module{}", wrong);
  NoGrad no_grad;
  for (const NamedTensor& named : named_tensors)
    named.tensor->copy_(state.find(named.path)->second);
}

void Module::to(Device& device, Where where) {
  Call call(where);
  std::vector<NamedTensor> named_tensors = TensorsOf(*this);
  std::erase_if(named_tensors,
                [&](const NamedTensor& named) { return &named.tensor->device() == &device; });
  std::vector<Tensor> old;
  for (const NamedTensor& named : named_tensors) old.push_back(*named.tensor);
  unlazy(old);
  std::vector<observe::Untied> tensors;  // each of `old` once, with all its names
  absl::flat_hash_map<const TensorImpl*, size_t> places_of;
  for (size_t i = 0; i < named_tensors.size(); ++i) {
    Tensor moved = old[i].detach().to(device);
    *named_tensors[i].tensor = moved.requires_grad_(old[i].requires_grad());
    const auto [at, is_new] = places_of.try_emplace(old[i].impl(), tensors.size());
    if (is_new) {
      tensors.push_back({.bytes = Shape{moved.dtype(), moved.sizes()}.bytes(),
                         .device = device.name(),
                         .stack = StackAt(Call::Where())});
    }
    tensors[at->second].names.push_back(named_tensors[i].path);
  }
  for (const observe::Untied& tensor : tensors) {
    if (tensor.names.size() > 1) Tell(&RuntimeListener::OnUntied, tensor);
  }
}

void Module::to(DType type, Where where) {
  OpCall call(where);
  if (!IsFloat(type))
    RaiseHere("Module::to({}): the type must be one of floating-point numbers", TorchName(type));
  for (const NamedTensor& named : TensorsOf(*this)) {
    Tensor& tensor = *named.tensor;
    if (!IsFloat(tensor.dtype())) continue;
    tensor.set_data(tensor.to(type));
    if (Tensor grad = tensor.grad(); grad.defined()) grad.set_data(grad.to(type));
  }
}

void Module::train(bool on) {
  training = on;
  for (const Part& part : parts()) {
    if (part.module != nullptr) part.module->train(on);
  }
}

void Module::CopyTensors(Where where) {
  Call call(where);
  std::vector<std::pair<Tensor, Tensor>> copies;  // each tensor once, whatever its names
  for (const NamedTensor& named : TensorsOf(*this)) {
    auto known = std::find_if(copies.begin(), copies.end(), [&](const auto& copy) {
      return copy.first.impl() == named.tensor->impl();
    });
    if (known == copies.end())
      known = copies.emplace(copies.end(), *named.tensor, lazy::deepcopy(*named.tensor));
    *named.tensor = known->second;
  }
}

}  // namespace xlaprof::lazy::nn
