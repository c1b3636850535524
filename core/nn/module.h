// What layers and models have in common: they name their parts, and all that is done to a whole
// model goes over these names.
//
//   struct Net : nn::Module {
//     nn::Linear encoder{784, 32}, decoder{32, 784};
//     std::vector<nn::Part> parts() override {
//       return {{"encoder", encoder}, {"decoder", decoder}};
//     }
//     Tensor operator()(const Tensor& x) const { return decoder(relu(encoder(x))); }
//   };
//
// A module is a value whose tensors are handles: a copy of it has the same tensors, deepcopy()
// gives one with tensors of its own. Weights are tied by making them one tensor:
// `net.decoder.weight = net.encoder.weight`.
#pragma once

#include <concepts>
#include <string>
#include <vector>

#include "core/trace/save.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy::nn {

class Module;
template <std::derived_from<Module> M>
M deepcopy(const M& module, Where where = Where::current());

// A tensor or a module that is a member of a module.
struct Part {
  enum Kind : uint8_t { kParameter, kBuffer };  // of a tensor: trained, or kept beside

  Part(std::string name, Tensor& tensor, Kind kind = kParameter)
      : name(std::move(name)), tensor(&tensor), kind(kind) {}
  Part(std::string name, Module& module) : name(std::move(name)), module(&module) {}

  std::string name;
  Tensor* tensor = nullptr;
  Module* module = nullptr;
  Kind kind = kParameter;
};

class Module {
 public:
  virtual ~Module() = default;
  // Of this module itself, in the order in which they are used. Members only, or elements of
  // members: nothing that a copy of the module would share.
  virtual std::vector<Part> parts() { return {}; }

  // Of it and of all modules in it; a tied one once.
  std::vector<Tensor> parameters();

  // Parameters and buffers by their path, "encoder.weight".
  State state_dict();
  // Writes them in place, so that ties stay, from any device. Raises, having changed nothing, where
  // a name or a shape is not the module's own.
  void load_state_dict(const State& state, Where where = Where::current());

  // Makes each tensor that is elsewhere anew on `device`, as PyTorch/XLA does: two that were tied
  // become two tensors, which is counted (UntiedParameters) and announced. Tie after the move. What
  // holds the old ones, an optimizer, goes on holding them; gradients are left behind.
  void to(Device& device, Where where = Where::current());

  // Of it and of all modules in it: how BatchNorm2d and Dropout behave.
  void train(bool on = true);
  void eval() { train(false); }
  bool training = true;

 protected:
  template <std::derived_from<Module> M>
  friend M deepcopy(const M& module, Where where);
  // In place of each tensor a copy of it; what was tied stays tied.
  void CopyTensors(Where where);
};

template <std::derived_from<Module> M>
M deepcopy(const M& module, Where where) {
  M copy = module;
  copy.CopyTensors(where);
  return copy;
}

}  // namespace xlaprof::lazy::nn
