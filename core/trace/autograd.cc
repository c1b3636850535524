// Implements reverse-mode differentiation. Each operation that needs it leaves a function that
// turns the gradient of its result into those of its inputs, with ordinary operations.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <queue>

#include "core/ir/scope.h"
#include "core/trace/autocast.h"
#include "core/trace/emit.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {
namespace {

int64_t NextSequence() {
  static std::atomic<int64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

struct ScopeOf {
  explicit ScopeOf(std::string_view name) { PushScope(name); }
  ~ScopeOf() { PopScope(); }
};

// Returns where the gradient of a tensor goes.
GradFn::Edge EdgeTo(const Tensor& tensor) {
  TensorImpl& impl = ImplOf(tensor);
  UpdateHistory(impl);
  if (impl.grad_fn) return {.fn = impl.grad_fn, .leaf = nullptr};
  return {.fn = nullptr, .leaf = Ref<TensorImpl>(&impl)};
}

// Returns the operation that made a new tensor.
const Op* LastOp(const TensorImpl& tensor) {
  return tensor.steps.empty() ? LastWrapped() : tensor.steps.all().back().op;
}

}  // namespace

// Says whether tensors were saved since the last differentiable operation. They belong to the next
// one, because they are made together with its vjp.
static thread_local bool saves_tensors = false;

Saved::Saved(const Tensor& tensor)
    : storage_(tensor.impl()->storage),
      steps_(tensor.impl()->steps),
      version_(storage_->version()) {
  saves_tensors = true;
}

// Destroys the chain in a loop, because it may be too long for recursion on the stack.
GradFn::~GradFn() {
  std::vector<Edge> left = std::move(edges);
  while (!left.empty()) {
    const Ref<GradFn> next = std::move(left.back().fn);
    left.pop_back();
    if (!next || !next->has_one_ref()) continue;
    std::ranges::move(next->edges, std::back_inserter(left));
    next->edges.clear();
  }
}

Tensor Saved::get() const {
  if (storage_->version() != version_) {
    RaiseHere(
        "backward(): a tensor that the gradient needs was written in place after it was used ({} "
        "times)",
        storage_->version() - version_);
  }
  return ViewOf(storage_, steps_);
}

void UpdateHistoryOfView(TensorImpl& view) {
  GraphLock lock;
  TensorImpl& base = view.base_or_self();
  if (view.recorded_writes == base.recorded_writes) return;
  if (view.taken_under_no_grad) {
    RaiseHere(
        "this view was taken under NoGrad, and its tensor was written since while gradients were "
        "recorded. Take the view outside of NoGrad, or write the tensor under NoGrad, too");
  }
  const bool saves = std::exchange(saves_tensors, false);  // those of the next operation
  view.recorded_writes = base.recorded_writes;
  // The sizes before each step.
  std::vector<std::pair<ViewStep, Dims>> path;
  const Dims* sizes = &base.sizes();
  for (const ViewStep& step : view.steps_from_base()) {
    path.emplace_back(step, *sizes);
    sizes = &step.sizes;
  }
  Differentiable(Tensor(Ref<TensorImpl>(&view)), {Tensor(view.base)},
                 [path = std::move(path)](Tensor grad) {
                   for (auto at = path.rbegin(); at != path.rend(); ++at)
                     grad = GradOfInput(at->first, at->second, grad);
                   return Grads{grad};
                 });
  saves_tensors = saves;
}

bool NeedsGrad(Inputs inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Input& input) { return NeedsGrad(input.tensor); });
}

Tensor Differentiable(Tensor out, Inputs inputs, std::function<Grads(const Tensor& grad)> vjp) {
  Ref<GradFn> fn = MakeRef<GradFn>();
  fn->sequence = NextSequence();
  fn->where = Call::Where();
  fn->op = LastOp(*out.impl());
  fn->vjp = std::move(vjp);
  fn->saves = std::exchange(saves_tensors, false);
  fn->edges.reserve(inputs.size());
  for (const auto& [input] : inputs) {
    GradFn::Edge& edge = fn->edges.emplace_back();
    if (input.defined() && input.requires_grad()) edge = EdgeTo(input);
  }
  out.impl()->requires_grad = true;
  out.impl()->grad_fn = std::move(fn);
  return out;
}

Tensor& Tensor::requires_grad_(bool on, Where where) {
  OpCall call(where);
  UpdateHistory(ImplOf(*this));
  if (!ImplOf(*this).is_leaf())
    RaiseHere(
        "aten::requires_grad_({}): this tensor is the result of an operation. detach() it first",
        TextOf(*this));
  if (on && !IsFloat(dtype())) {
    RaiseHere(
        "aten::requires_grad_({}): only floating-point tensors have gradients. Convert it with to(DType::kF32)",
        TextOf(*this));
  }
  impl_->requires_grad = on;
  return *this;
}
bool Tensor::requires_grad() const {
  UpdateHistory(ImplOf(*this));
  return ImplOf(*this).requires_grad;
}
Tensor Tensor::grad() const { return ImplOf(*this).grad; }
void Tensor::zero_grad() { ImplOf(*this).grad = Tensor(); }

Tensor Tensor::detach() const {
  const TensorImpl& impl = ImplOf(*this);
  return ViewOf(impl.storage, impl.steps);
}

namespace {

// Computes gradients, from results back to what they depend on. While it lives, operations are
// recorded in the scope "backward" and not for gradients.
class Backward {
 public:
  explicit Backward(bool retain_graph) : retain_graph_(retain_graph) {}

  // Adds the gradient with respect to a result. `gradient` may be none for a scalar, whose is 1.
  void Add(std::string_view caller, const Tensor& result, Tensor gradient) {
    if (!result.requires_grad()) {
      RaiseHere("{} of a tensor that does not depend on a tensor with requires_grad_()", caller);
    }
    if (!gradient.defined()) {
      if (result.numel() != 1) {
        RaiseHere(
            "{} of a tensor of {} elements: a loss must have one element. Reduce it, for example "
            "with sum(), or pass the gradient with respect to this tensor",
            caller, result.numel());
      }
      gradient = ones(result.sizes(), result.dtype(), result.device());
    }
    if (gradient.sizes() != result.sizes() || &gradient.device() != &result.device()) {
      RaiseHere("{}: the gradient is {} on {}, but the tensor is {} on {}", caller,
                TextOf(gradient), gradient.device().name(), TextOf(result), result.device().name());
    }
    results_.emplace_back(EdgeTo(result), gradient.to(result.dtype()));
  }

  // Adds the gradients to the leaves.
  void Run() {
    for (auto& [edge, gradient] : results_) Give(edge, std::move(gradient));
    while (!ready_.empty()) {
      const Ref<GradFn> fn = ready_.top();
      ready_.pop();
      const Tensor grad = std::move(of_results_.extract(fn.get()).mapped());
      if (const auto wanted = wanted_.find(fn.get()); wanted != wanted_.end())
        wanted->second = grad;
      if (!IsOnTheWay(*fn)) continue;
      Grads of_inputs = Apply(*fn, grad);
      for (size_t i = 0; i < fn->edges.size(); ++i) {
        if (of_inputs[i].defined()) Give(fn->edges[i], std::move(of_inputs[i]));
      }
    }
  }

  // Returns the gradients with respect to `inputs`, and gives the leaves none. Those of inputs that
  // no result depends on are none.
  Grads RunTo(const std::vector<Tensor>& inputs) {
    std::vector<const void*> keys;
    for (const Tensor& input : inputs) {
      const GradFn::Edge edge = EdgeTo(input);
      keys.push_back(edge.fn ? static_cast<const void*>(edge.fn.get()) : edge.leaf.get());
      wanted_.try_emplace(keys.back());
    }
    FindTheWay();
    Run();
    Grads grads;
    for (const void* key : keys) {
      const Tensor& grad = wanted_.at(key);
      grads.push_back(grad.defined() ? grad.clone() : Tensor());
    }
    return grads;
  }

 private:
  // Finds the operations through which wanted gradients flow.
  void FindTheWay() {
    absl::flat_hash_set<GradFn*> known;
    std::vector<GradFn*> order;
    auto see = [&](const GradFn::Edge& edge) {
      if (edge.fn && known.insert(edge.fn.get()).second) order.push_back(edge.fn.get());
    };
    for (const auto& [edge, gradient] : results_) see(edge);
    for (size_t i = 0; i < order.size(); ++i) {
      for (const GradFn::Edge& edge : order[i]->edges) see(edge);
    }
    std::ranges::sort(order, {}, &GradFn::sequence);  // what an operation depends on comes first
    for (const GradFn* fn : order) {
      if (std::ranges::any_of(fn->edges, [&](const GradFn::Edge& edge) { return Leads(edge); }))
        on_the_way_.insert(fn);
    }
  }

  bool OnlySomeAreWanted() const { return !wanted_.empty(); }
  bool IsOnTheWay(const GradFn& fn) const {
    return !OnlySomeAreWanted() || on_the_way_.contains(&fn);
  }
  // Returns whether a gradient that goes there is wanted, or leads to one that is.
  bool Leads(const GradFn::Edge& edge) const {
    if (edge.leaf) return !OnlySomeAreWanted() || wanted_.contains(edge.leaf.get());
    return edge.fn && (IsOnTheWay(*edge.fn) || wanted_.contains(edge.fn.get()));
  }

  void Give(const GradFn::Edge& edge, Tensor grad) {
    if (!Leads(edge)) return;
    if (edge.fn) {
      auto [at, is_new] = of_results_.try_emplace(edge.fn.get());
      at->second = is_new ? std::move(grad) : add(at->second, grad);
      if (is_new) ready_.push(edge.fn);
      return;
    }
    if (OnlySomeAreWanted()) {
      Tensor& sum = wanted_.at(edge.leaf.get());
      sum = sum.defined() ? add(sum, grad) : std::move(grad);
      return;
    }
    // A leaf's gradient is a tensor of its own, to which later ones are added in place.
    Tensor& sum = edge.leaf->grad;
    if (sum.defined()) {
      sum.add_(grad);
    } else {
      sum = grad.clone();
    }
  }

  // Returns the gradients of the inputs of an operation.
  Grads Apply(GradFn& fn, const Tensor& grad) const {
    CallOf call_of(fn.where, fn.call_stack);
    if (!fn.vjp) {
      RaiseHere(
          "backward() a second time through an operation whose saved tensors were released. Pass "
          "retain_graph=true the first time");
    }
    if (!fn.saves || retain_graph_) return fn.vjp(grad);
    return std::exchange(fn.vjp, nullptr)(grad);
  }

  struct IsLater {
    bool operator()(const Ref<GradFn>& a, const Ref<GradFn>& b) const {
      return a->sequence < b->sequence;
    }
  };

  const NoGrad no_grad_;
  // Each gradient is computed in the type in which its operation worked.
  const Autocast no_autocast_{DType::kBF16, /*enabled=*/false};
  const ScopeOf scope_{"backward"};
  const bool retain_graph_;
  std::vector<std::pair<GradFn::Edge, Tensor>> results_;
  absl::flat_hash_map<GradFn*, Tensor> of_results_;  // gradients with respect to results
  std::priority_queue<Ref<GradFn>, std::vector<Ref<GradFn>>, IsLater> ready_;
  absl::flat_hash_map<const void*, Tensor> wanted_;  // by GradFn or leaf; empty: all leaves'
  absl::flat_hash_set<const GradFn*> on_the_way_;
};

}  // namespace

void Tensor::backward(const Tensor& gradient, bool retain_graph, Where where) const {
  OpCall call(where);
  Backward backward(retain_graph);
  backward.Add("backward()", *this, gradient);
  backward.Run();
}

namespace autograd {

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, bool retain_graph,
                         bool allow_unused, Where where) {
  OpCall call(where);
  if (outputs.empty() || inputs.empty())
    RaiseHere("autograd::grad() of {} outputs and {} inputs", outputs.size(), inputs.size());
  if (!grad_outputs.empty() && grad_outputs.size() != outputs.size()) {
    RaiseHere("autograd::grad(): there are {} outputs, but {} gradients of outputs", outputs.size(),
              grad_outputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) {
      RaiseHere("autograd::grad(): input {}, {}, needs no gradient: use requires_grad_() first", i,
                TextOf(inputs[i]));
    }
  }
  Backward backward(retain_graph);
  for (size_t i = 0; i < outputs.size(); ++i) {
    backward.Add("autograd::grad()", outputs[i], grad_outputs.empty() ? Tensor() : grad_outputs[i]);
  }
  Grads grads = backward.RunTo(inputs);
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() && !allow_unused) {
      RaiseHere(
          "autograd::grad(): no output depends on input {}, {}. Pass allow_unused=true if that is "
          "intended",
          i, TextOf(inputs[i]));
    }
  }
  return grads;
}

}  // namespace autograd
}  // namespace xlaprof::lazy
