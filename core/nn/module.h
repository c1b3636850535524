// The base of layers and models. A module names its parts, and operations on a whole model go
// through these names.
//
//   struct Net : nn::Module {
//     nn::Linear encoder{784, 32}, decoder{32, 784};
//     std::vector<nn::Part> parts() override {
//       return {{"encoder", encoder}, {"decoder", decoder}};
//     }
//     Tensor operator()(const Tensor& x) const { return decoder(relu(encoder(x))); }
//   };
//
// A module is a value whose tensors are handles: its copy has the same tensors, and deepcopy()
// returns a module with its own tensors. Tie weights by making them one tensor: `net.decoder.weight
// = net.encoder.weight`.
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
  enum Kind : uint8_t { kParameter, kBuffer };  // of a tensor: trained, or only kept

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
  // Returns this module's own parts, in the order of their use. They must be members, or elements
  // of members, and nothing that a copy of the module would share.
  virtual std::vector<Part> parts() { return {}; }

  // Returns the parameters of the module and its submodules; a tied one occurs once.
  std::vector<Tensor> parameters();

  // Returns parameters and buffers by their path, "encoder.weight".
  State state_dict();
  // Writes the tensors in place, so that ties stay, from any device. If a name or a shape does not
  // match the module, raises an Error and changes nothing.
  void load_state_dict(const State& state, Where where = Where::current());

  // Makes each tensor that is on another device anew on `device`, as PyTorch/XLA does. Two tied
  // tensors become separate, which is counted (UntiedParameters) and announced, so tie them after
  // the move. Holders of the old tensors, such as an optimizer, keep them. Gradients are not moved.
  void to(Device& device, Where where = Where::current());
  // Converts the parameters and buffers of floats, and the gradients, in place: ties stay, and
  // holders of the tensors, such as an optimizer, see the new type. What was recorded before keeps
  // the old values. Raises an Error if `type` is not one of floats.
  void to(DType type, Where where = Where::current());
  void to(Device& device, DType type, Where where = Where::current()) {
    to(device, where);
    to(type, where);
  }

  // Sets the mode of the module and its submodules, which changes BatchNorm2d and Dropout.
  void train(bool on = true);
  void eval() { train(false); }
  bool training = true;

 protected:
  template <std::derived_from<Module> M>
  friend M deepcopy(const M& module, Where where);
  // Replaces each tensor by a copy. Tied tensors stay tied.
  void CopyTensors(Where where);
};

template <std::derived_from<Module> M>
M deepcopy(const M& module, Where where) {
  M copy = module;
  copy.CopyTensors(where);
  return copy;
}

}  // namespace xlaprof::lazy::nn
