#include "core/nn/module.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "core/exec/call.h"
#include "core/metrics/metrics.h"
#include "core/observe/observer.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"

namespace xlaprof::lazy::nn {
namespace {

// A tensor of a module or of a module in it.
struct Place {
  std::string path;
  Tensor* tensor;
  Part::Kind kind;
};

void AddPlaces(Module& module, const std::string& prefix, std::vector<Place>* places) {
  for (const Part& part : module.parts()) {
    if (part.module != nullptr) {
      AddPlaces(*part.module, prefix + part.name + ".", places);
    } else if (*part.tensor) {
      places->push_back({prefix + part.name, part.tensor, part.kind});
    }
  }
}

std::vector<Place> PlacesOf(Module& module) {
  std::vector<Place> places;
  AddPlaces(module, "", &places);
  return places;
}

void Announce(const observe::Untied& untied) {
  static metrics::Counter& counter = metrics::Counter::Of("UntiedParameters");
  counter.Add(int64_t(untied.names.size()) - 1);
  if (observe::Observer* observer = observe::Current()) observer->OnUntied(untied);
}

}  // namespace

std::vector<Tensor> Module::parameters() {
  std::vector<Tensor> parameters;
  for (const Place& place : PlacesOf(*this)) {
    const bool is_known = std::any_of(
        parameters.begin(), parameters.end(),
        [&](const Tensor& parameter) { return parameter.impl() == place.tensor->impl(); });
    if (place.kind == Part::kParameter && !is_known) parameters.push_back(*place.tensor);
  }
  return parameters;
}

State Module::state_dict() {
  State state;
  for (const Place& place : PlacesOf(*this)) state[place.path] = *place.tensor;
  return state;
}

void Module::load_state_dict(const State& state, Where where) {
  Call call(where);
  const std::vector<Place> places = PlacesOf(*this);
  std::string wrong;
  for (const Place& place : places) {
    const auto found = state.find(place.path);
    if (found == state.end()) {
      wrong += fmt::format("\n  {} is missing", place.path);
    } else if (found->second.sizes() != place.tensor->sizes()) {
      wrong += fmt::format("\n  {} has sizes {}, not {}", place.path,
                           SizesText(found->second.sizes()), SizesText(place.tensor->sizes()));
    }
  }
  for (const auto& [name, tensor] : state) {
    if (std::none_of(places.begin(), places.end(),
                     [&](const Place& place) { return place.path == name; }))
      wrong += fmt::format("\n  {} is no part of it", name);
  }
  if (!wrong.empty()) RaiseHere("load_state_dict: the state is of another module{}", wrong);
  NoGrad no_grad;
  for (const Place& place : places) place.tensor->copy_(state.find(place.path)->second);
}

void Module::to(Device& device, Where where) {
  Call call(where);
  std::vector<Place> places = PlacesOf(*this);
  std::erase_if(places, [&](const Place& place) { return &place.tensor->device() == &device; });
  std::vector<Tensor> old;
  for (const Place& place : places) old.push_back(*place.tensor);
  unlazy(old);
  std::vector<observe::Untied> tensors;  // each of `old` once, with all names that it has
  absl::flat_hash_map<const TensorImpl*, size_t> places_of;
  for (size_t i = 0; i < places.size(); ++i) {
    Tensor moved = old[i].detach().to(device);
    *places[i].tensor = moved.requires_grad_(old[i].requires_grad());
    const auto [at, is_new] = places_of.try_emplace(old[i].impl(), tensors.size());
    if (is_new) {
      tensors.push_back({.bytes = Shape{moved.dtype(), moved.sizes()}.bytes(),
                         .device = device.name(),
                         .stack = StackAt(Call::Where())});
    }
    tensors[at->second].names.push_back(places[i].path);
  }
  for (const observe::Untied& tensor : tensors) {
    if (tensor.names.size() > 1) Announce(tensor);
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
  std::vector<std::pair<Tensor, Tensor>> copies;  // of each tensor once, whatever names it has
  for (const Place& place : PlacesOf(*this)) {
    auto known = std::find_if(copies.begin(), copies.end(), [&](const auto& copy) {
      return copy.first.impl() == place.tensor->impl();
    });
    if (known == copies.end())
      known = copies.emplace(copies.end(), *place.tensor, lazy::deepcopy(*place.tensor));
    *place.tensor = known->second;
  }
}

}  // namespace xlaprof::lazy::nn
