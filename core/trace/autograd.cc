// Implements reverse-mode differentiation. Each operation that needs it leaves a function that
// turns the gradient of its result into those of its inputs, with ordinary operations.
#include <absl/container/flat_hash_map.h>

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
  return Tensor(ViewOf(storage_, steps_));
}

bool NeedsGrad(const Tensor& input) {
  if (!input || NoGrad::is_on()) return false;
  const TensorImpl& impl = *input.impl();
  if (!impl.steps.empty() && impl.writes_seen != impl.storage->recorded_writes()) {
    RaiseHere(
        "this view was taken before its tensor was written in place while gradients were recorded, so it does not contain the write. Take the view again, or detach() it");
  }
  return impl.requires_grad;
}

bool NeedsGrad(Inputs inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Input& input) { return NeedsGrad(input.tensor); });
}

Tensor Differentiable(Tensor out, Inputs inputs, std::function<Grads(const Tensor& grad)> vjp) {
  Ref<GradFn> fn = MakeRef<GradFn>();
  fn->sequence = NextSequence();
  fn->where = Call::Where();
  fn->vjp = std::move(vjp);
  fn->saves = std::exchange(saves_tensors, false);
  fn->edges.reserve(inputs.size());
  for (const auto& [input] : inputs) {
    GradFn::Edge& edge = fn->edges.emplace_back();
    if (!input || !input.impl()->requires_grad) continue;
    edge.fn = input.impl()->grad_fn;
    if (!edge.fn) edge.leaf = Ref<TensorImpl>(input.impl());
  }
  out.impl()->requires_grad = true;
  out.impl()->grad_fn = std::move(fn);
  return out;
}

Tensor& Tensor::requires_grad_(bool on, Where where) {
  OpCall call(where);
  if (ImplOf(*this).grad_fn)
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
bool Tensor::requires_grad() const { return ImplOf(*this).requires_grad; }
Tensor Tensor::grad() const { return ImplOf(*this).grad; }
void Tensor::zero_grad() { ImplOf(*this).grad = Tensor(); }

Tensor Tensor::detach() const {
  const TensorImpl& impl = ImplOf(*this);
  return Tensor(ViewOf(impl.storage, impl.steps));
}

void Tensor::backward(Where where) const {
  OpCall call(where);
  if (numel() != 1)
    RaiseHere("backward() of a tensor of {} elements: a loss must have one element", numel());
  if (!requires_grad())
    RaiseHere("backward() of a tensor that does not depend on a tensor with requires_grad_()");
  NoGrad no_grad;
  // Each gradient is computed in the type in which its operation worked.
  const Autocast no_autocast(DType::kBF16, /*enabled=*/false);
  ScopeOf scope("backward");
  absl::flat_hash_map<GradFn*, Tensor> grads;
  auto later = [](const Ref<GradFn>& a, const Ref<GradFn>& b) { return a->sequence < b->sequence; };
  std::priority_queue<Ref<GradFn>, std::vector<Ref<GradFn>>, decltype(later)> ready(later);
  auto give = [&](const GradFn::Edge& edge, Tensor grad) {
    if (edge.leaf) {
      Tensor& sum = edge.leaf->grad;
      // The sum is a separate tensor, so that writing it in place changes no other.
      sum = sum ? add(sum, grad) : grad.clone();
    } else if (edge.fn) {
      auto [at, is_new] = grads.try_emplace(edge.fn.get());
      at->second = is_new ? std::move(grad) : add(at->second, grad);
      if (is_new) ready.push(edge.fn);
    }
  };
  give({.fn = impl_->grad_fn, .leaf = impl_->grad_fn ? nullptr : impl_},
       ones(sizes(), dtype(), device()));
  while (!ready.empty()) {
    const Ref<GradFn> fn = ready.top();
    ready.pop();
    CallOf call_of(fn->where);
    if (!fn->vjp) {
      RaiseHere("backward() a second time through an operation whose saved tensors were released");
    }
    const Tensor grad = std::move(grads.extract(fn.get()).mapped());
    const auto vjp = fn->saves ? std::exchange(fn->vjp, nullptr) : fn->vjp;
    Grads of_inputs = vjp(grad);
    for (size_t i = 0; i < fn->edges.size(); ++i) {
      if (of_inputs[i]) give(fn->edges[i], std::move(of_inputs[i]));
    }
  }
}

}  // namespace xlaprof::lazy
