// The implementation of a Tensor, for core/trace only.
#pragma once

#include <functional>
#include <source_location>
#include <vector>

#include "core/exec/call.h"
#include "core/exec/storage.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// One step from a storage's value to a view of it. Its nodes are recorded where the view is used,
// and belong to the line that took the view.
struct ViewStep {
  const Op* op;
  Attributes attributes;
  Dims sizes = {};  // after the step
  std::source_location where = Call::Where();
  CallStackId call_stack = CurrentCallStack();
};

// The steps from a storage's value to a view of it, in their order; none for the whole value. Copies
// share them.
class ViewSteps {
 public:
  using List = absl::InlinedVector<ViewStep, 1>;
  ViewSteps() = default;
  explicit ViewSteps(List list) {
    if (!list.empty()) shared_ = MakeRef<Shared>(std::move(list));
  }

  bool empty() const { return !shared_; }
  std::span<const ViewStep> all() const {
    return shared_ ? std::span<const ViewStep>(shared_->list) : std::span<const ViewStep>();
  }
  List copy() const { return shared_ ? shared_->list : List(); }

 private:
  struct Shared final : RefCounted, Pooled<Shared> {
    explicit Shared(List list) : list(std::move(list)) {}
    const List list;
  };
  Ref<const Shared> shared_;
};

struct GradFn;

struct TensorImpl final : RefCounted, Pooled<TensorImpl> {
  Ref<Storage> storage;
  ViewSteps steps;  // from the storage's value to this one
  // The tensor that this is a view of, which is none itself, and the number of its steps.
  Ref<TensorImpl> base;
  size_t base_steps = 0;
  // A base counts the writes that gradients flow through. A view has the number of them that its
  // history contains (UpdateHistory).
  int64_t recorded_writes = 0;
  bool requires_grad = false;
  bool taken_under_no_grad = false;  // only of views
  Ref<GradFn> grad_fn;               // null for leaves
  Tensor grad;                       // only for leaves

  bool is_leaf() const { return !grad_fn; }
  // Returns the base, or this tensor if it is no view. A view whose base got other data (set_data)
  // is none any more.
  TensorImpl& base_or_self() { return base && base->storage == storage ? *base : *this; }
  // Returns the steps from the base's value to that of a view.
  std::span<const ViewStep> steps_from_base() const { return steps.all().subspan(base_steps); }
  // Returns the sizes. Hold a GraphLock until they have been used.
  const Dims& sizes() const {
    return steps.empty() ? storage->value()->shape().dims : steps.all().back().sizes;
  }
};

using Grads = std::vector<Tensor>;  // per input; none if it needs none

// An operation through which a gradient flows back.
struct GradFn final : RefCounted, Pooled<GradFn> {
  // The target of a gradient: the operation that made the input, or the input itself if it is a
  // leaf.
  struct Edge {
    Ref<GradFn> fn;
    Ref<TensorImpl> leaf;
  };
  int64_t sequence = 0;    // ascending in the order of recording
  const Op* op = nullptr;  // what made the result; null for a write in place
  std::source_location where;
  CallStackId call_stack = CurrentCallStack();
  std::vector<Edge> edges;
  std::function<Grads(const Tensor& grad)> vjp;  // empty after its use if it saves tensors
  bool saves = false;

  ~GradFn() override;  // destroys chains of any length
};

// A tensor whose value backward() needs. It holds the storage, not the history.
class Saved {
 public:
  Saved() = default;  // none
  explicit Saved(const Tensor& tensor);
  // Returns the tensor. Raises an Error if it was written in place since.
  Tensor get() const;

 private:
  Ref<Storage> storage_;
  ViewSteps steps_;
  int64_t version_ = 0;
};

// A tensor passed to an operation without a copy.
struct Input {
  Input(const Tensor& tensor) : tensor(tensor) {}
  const Tensor& tensor;
};
using Inputs = std::initializer_list<Input>;

[[noreturn]] void RaiseNone();
inline TensorImpl& ImplOf(const Tensor& tensor) {
  if (!tensor.defined()) RaiseNone();
  return *tensor.impl();
}
// Replaces the history of a view by that of its base's present value, if the base was written since
// while gradients were recorded. Writes through another view are writes of the base.
void UpdateHistoryOfView(TensorImpl& view);
inline void UpdateHistory(TensorImpl& tensor) {
  if (tensor.base) UpdateHistoryOfView(tensor);
}
inline bool NeedsGrad(const Tensor& input) {
  if (!input.defined() || NoGrad::is_on()) return false;
  UpdateHistory(*input.impl());
  return input.impl()->requires_grad;
}
bool NeedsGrad(Inputs inputs);
// Records in `out` where its gradient goes. `out` may be one of the inputs, which it overwrites.
Tensor Differentiable(Tensor out, Inputs inputs, std::function<Grads(const Tensor& grad)> vjp);

}  // namespace xlaprof::lazy
