// Modules that hold other modules by number: "0.weight", "1.weight".
//
//   nn::Sequential net(nn::Linear(784, 64), nn::ReLU(), nn::Linear(64, 10));
//   Tensor logits = net(x);
#pragma once

#include <memory>

#include "core/nn/module.h"

namespace xlaprof::lazy::nn {

// Calls modules in turn, each with the previous one's result. Any module can be held that can be
// called with a tensor, and with a tensor and a Where if that is to be the line of its operations.
class Sequential : public Module {
 public:
  Sequential() = default;
  template <class... Ms>
    requires((std::derived_from<std::remove_cvref_t<Ms>, Module> && ...) && sizeof...(Ms) > 0 &&
             !(sizeof...(Ms) == 1 && (std::same_as<std::remove_cvref_t<Ms>, Sequential> && ...)))
  explicit Sequential(Ms&&... modules) {
    (push_back(std::forward<Ms>(modules)), ...);
  }

  template <std::derived_from<Module> M>
  void push_back(M module) {
    stages_.emplace_back(std::make_unique<StageOf<M>>(std::move(module)));
  }

  size_t size() const { return stages_.size(); }
  // Returns module `i`. Raises an Error if there is none, or if it is not an M.
  template <std::derived_from<Module> M = Module>
  M& at(size_t i) {
    if (i >= size()) Raise("module {} of a Sequential of {}", i, size());
    M* module = dynamic_cast<M*>(&stages_[i].held->module());
    if (module == nullptr) Raise("module {} of the Sequential is of another type", i);
    return *module;
  }

  // Also modules that change in a call, such as BatchNorm2d, can be called.
  Tensor operator()(Tensor x, Where where = Where::current()) const {
    for (const Held& stage : stages_) x = stage.held->Call(x, where);
    return x;
  }

  std::vector<Part> parts() override {
    std::vector<Part> all;
    for (size_t i = 0; i < size(); ++i)
      all.emplace_back(std::to_string(i), stages_[i].held->module());
    return all;
  }

 private:
  struct Stage {
    virtual ~Stage() = default;
    virtual Module& module() = 0;
    virtual Tensor Call(const Tensor& x, Where where) = 0;
    virtual std::unique_ptr<Stage> Copy() const = 0;
  };
  template <class M>
  struct StageOf final : Stage {
    explicit StageOf(M module) : of(std::move(module)) {}
    Module& module() override { return of; }
    Tensor Call(const Tensor& x, Where where) override {
      if constexpr (std::invocable<M&, const Tensor&, Where>) {
        return of(x, where);
      } else {
        return of(x);
      }
    }
    std::unique_ptr<Stage> Copy() const override { return std::make_unique<StageOf>(of); }
    M of;
  };
  struct Held {
    Held(std::unique_ptr<Stage> stage) : held(std::move(stage)) {}
    Held(const Held& other) : held(other.held->Copy()) {}
    Held(Held&&) noexcept = default;
    Held& operator=(Held other) noexcept {
      held = std::move(other.held);
      return *this;
    }
    std::unique_ptr<Stage> held;
  };
  std::vector<Held> stages_;
};

// Modules of one type, which the module that holds the list calls itself.
template <std::derived_from<Module> M>
class ModuleList : public Module {
 public:
  ModuleList() = default;
  explicit ModuleList(std::vector<M> modules) : modules_(std::move(modules)) {}
  void push_back(M module) { modules_.push_back(std::move(module)); }
  size_t size() const { return modules_.size(); }
  M& operator[](size_t i) { return modules_[i]; }
  const M& operator[](size_t i) const { return modules_[i]; }
  auto begin() { return modules_.begin(); }
  auto end() { return modules_.end(); }
  auto begin() const { return modules_.begin(); }
  auto end() const { return modules_.end(); }

  std::vector<Part> parts() override {
    std::vector<Part> all;
    for (size_t i = 0; i < size(); ++i) all.emplace_back(std::to_string(i), modules_[i]);
    return all;
  }

 private:
  std::vector<M> modules_;
};

}  // namespace xlaprof::lazy::nn
