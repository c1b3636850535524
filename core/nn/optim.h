// Optimizers, with PyTorch's names, defaults and numbers. step() writes the parameters in place, as
// part of the graph.
//
//   optim::AdamW optimizer(net.parameters(), {.lr = 3e-4});
//   optimizer.param_groups[0].lr = 1e-4;  // takes effect in the next step, without a compilation
//
// Parameters of 16-bit floats are updated in f32 and then rounded.
#pragma once

#include <optional>

#include "core/trace/functions.h"
#include "core/trace/save.h"
#include "core/trace/step.h"

namespace xlaprof::lazy::optim {

// Parameters with a learning rate and a weight decay of their own.
struct ParamGroup {
  std::vector<Tensor> params;
  double lr, weight_decay;
};

// The options of a group that differ from those of the first group.
struct GroupOptions {
  std::optional<double> lr = {}, weight_decay = {};
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Adds parameters with options of their own, such as biases, which are usually not decayed:
  //   optimizer.add_param_group(biases, {.weight_decay = 0});
  // Raises an Error if there are none, or if the optimizer has one of them already.
  void add_param_group(std::vector<Tensor> params, GroupOptions options = {},
                       Where where = Where::current());
  std::vector<ParamGroup> param_groups;  // their numbers may be changed between steps

  virtual void step(Where where = Where::current()) = 0;
  void zero_grad();
  // Returns the parameters of all groups.
  std::vector<Tensor> parameters() const;

  // Returns what step() remembers of each parameter that had a gradient, and the numbers of the
  // groups: "state.0.exp_avg", "param_groups.0.lr". Parameters are numbered through all groups.
  State state_dict() const;
  // Takes over copies of these, from any device and in the parameters' types. The constructor's
  // other options stay. If a name or a shape does not match, raises an Error and changes nothing.
  void load_state_dict(const State& state, Where where = Where::current());

  // Returns the device of its parameters.
  Device& device() const { return param_groups.front().params.front().device(); }

 protected:
  // A number that changes without making another graph, also to 0 or 1 or to the value of another
  // number. It is a parameter of the graph, and is sent to a device once per value.
  class Number {
   public:
    // Returns it as a scalar that fits `like`, a tensor of f32 or f64.
    const Tensor& For(const Tensor& like, double value);

   private:
    double value_ = 0;
    std::vector<Tensor> sent_;  // per device and type
  };

  // A parameter that has a gradient.
  struct Trained {
    size_t index;  // in state_
    const ParamGroup* group;
    Number* lr;
    Number* decay;
    Tensor param;
    Tensor grad;  // in f32 if the parameter is narrower
  };

  Optimizer(std::vector<Tensor> params, double lr, double weight_decay, Where where);
  std::vector<Trained> AllTrained();

  std::vector<State> state_;  // per parameter; empty before its first gradient

 private:
  // Returns the names and the shapes of what step() remembers of a parameter.
  virtual std::map<std::string, Shape> ShapesOfState(const Tensor& param) const = 0;
  // Makes what parameters share one tensor again, after a load.
  virtual void ShareState() {}
  struct Numbers {
    Number lr, decay;
  };
  std::vector<Numbers> numbers_;  // per group
};

struct SGDOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
};

class SGD final : public Optimizer {
 public:
  SGD(std::vector<Tensor> params, const SGDOptions& options, Where where = Where::current());
  SGD(std::vector<Tensor> params, double lr, double momentum = 0, Where where = Where::current())
      : SGD(std::move(params), {.lr = lr, .momentum = momentum}, where) {}
  void step(Where where = Where::current()) override;

 private:
  std::map<std::string, Shape> ShapesOfState(const Tensor& param) const override;
  const SGDOptions options_;
};

struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  std::optional<double> weight_decay = {};  // absent: 0 for Adam, 0.01 for AdamW
};

// Its weight decay is added to the gradients.
class Adam : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> params, const AdamOptions& options = {},
                Where where = Where::current())
      : Adam(std::move(params), options, /*is_decoupled=*/false, where) {}
  Adam(std::vector<Tensor> params, double lr, Where where = Where::current())
      : Adam(std::move(params), AdamOptions{.lr = lr}, where) {}
  void step(Where where = Where::current()) final;

 protected:
  Adam(std::vector<Tensor> params, const AdamOptions& options, bool is_decoupled, Where where);

 private:
  // The corrections of the moments in a step. They depend on the number of steps in which a
  // parameter had a gradient. Parameters that always had theirs together share that counter.
  struct Corrections {
    Tensor before;  // the counter that they had before this step; none before the first gradient
    Tensor count, mean, square;
  };
  std::vector<Corrections> Count(const std::vector<Trained>& trained);
  std::map<std::string, Shape> ShapesOfState(const Tensor& param) const override;
  void ShareState() override;

  const AdamOptions options_;
  const bool is_decoupled_;
};

// Its weight decay shrinks the parameters, independently of the gradients.
class AdamW final : public Adam {
 public:
  explicit AdamW(std::vector<Tensor> params, const AdamOptions& options = {},
                 Where where = Where::current())
      : Adam(std::move(params), options, /*is_decoupled=*/true, where) {}
  AdamW(std::vector<Tensor> params, double lr, Where where = Where::current())
      : AdamW(std::move(params), AdamOptions{.lr = lr}, where) {}
};

}  // namespace xlaprof::lazy::optim

namespace xlaprof::lazy {
// Replaces the gradients of the optimizer's parameters by their means over all ranks, in place and
// in one exchange per type. Does nothing if there is one rank.
void reduce_gradients(optim::Optimizer& optimizer, Where where = Where::current());
// Reduces the gradients and makes the optimizer's step. If `barrier`, also makes a step mark, for
// loops without a loader that does.
void optimizer_step(optim::Optimizer& optimizer, bool barrier = false,
                    Where where = Where::current());
}  // namespace xlaprof::lazy
