// What stands behind a Tensor, for core/trace only.
#pragma once

#include <functional>
#include <vector>

#include "core/exec/call.h"
#include "core/exec/storage.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// One step from a storage's value to a view of it.
struct ViewStep {
  const Op* op;
  Attributes attributes;
};

struct GradFn;

struct TensorImpl final : RefCounted, Pooled<TensorImpl> {
  Ref<Storage> storage;
  std::vector<ViewStep> steps;  // empty: no view
  int64_t writes_seen = 0;      // of the storage's recorded writes, by a view's history
  bool requires_grad = false;
  Ref<GradFn> grad_fn;  // of what an operation made
  Tensor grad;          // of a leaf
};

using Grads = std::vector<Tensor>;  // of each input; none where it needs none

// An operation that a gradient flows back through.
struct GradFn final : RefCounted, Pooled<GradFn> {
  // Where a gradient goes: to the operation that made the input, or to the leaf that it is.
  struct Edge {
    Ref<GradFn> fn;
    Ref<TensorImpl> leaf;
  };
  int64_t sequence = 0;  // ascending in the order in which operations were recorded
  std::source_location where;
  std::vector<Edge> edges;
  std::function<Grads(const Tensor& grad)> vjp;  // empty once it was used, where it saves tensors
  bool saves = false;

  ~GradFn() override;  // of a chain of any length
};

// A tensor whose value backward() needs. Holds the storage, not the history.
class Saved {
 public:
  Saved() = default;  // none
  explicit Saved(const Tensor& tensor);
  // Raises where it was written in place since.
  Tensor get() const;

 private:
  Ref<Storage> storage_;
  std::vector<ViewStep> steps_;
  int64_t version_ = 0;
};

// Tensors that are given to an operation, not copied.
struct Input {
  Input(const Tensor& tensor) : tensor(tensor) {}
  const Tensor& tensor;
};
using Inputs = std::initializer_list<Input>;

[[noreturn]] void RaiseNone();
inline TensorImpl& ImplOf(const Tensor& tensor) {
  if (!tensor) RaiseNone();
  return *tensor.impl();
}
// The value of a view from the value of the tensor that it looks at.
NodePtr Through(NodePtr value, std::span<const ViewStep> steps);
// A tensor's value until the tensor is written or given up: its storage holds it, or, that of a
// view, this. A NodePtr made of it has no such end.
class BorrowedNode {
 public:
  explicit BorrowedNode(const Node* of_storage) : node_(of_storage) {}
  explicit BorrowedNode(NodePtr of_view) : view_(std::move(of_view)), node_(view_.get()) {}
  const Node* get() const { return node_; }
  const Node* operator->() const { return node_; }
  operator NodePtr() const { return NodePtr(node_); }

 private:
  NodePtr view_;
  const Node* node_;
};
inline BorrowedNode NodeOf(const Tensor& tensor) {
  const TensorImpl& impl = ImplOf(tensor);
  const NodePtr& value = impl.storage->value();
  return impl.steps.empty() ? BorrowedNode(value.get()) : BorrowedNode(Through(value, impl.steps));
}
// The same values of another type.
HostTensor Converted(const void* values, const Shape& shape, DType type);
// A new tensor with this value, in the type in which devices keep the logical one.
Tensor Wrap(Device& device, NodePtr value, DType logical);
// Records an operation, at the line of the outermost call.
Tensor Emit(const Op& op, Inputs operands, absl::Span<const int64_t> attributes, DType logical);
inline Tensor Emit(const Op& op, Inputs operands, absl::Span<const int64_t> attributes = {}) {
  return Emit(op, operands, attributes, operands.begin()->tensor.dtype());
}
// A tensor of a storage's value as it is seen through `steps`, without a history of its own.
Ref<TensorImpl> ViewOf(Ref<Storage> storage, std::vector<ViewStep> steps);
// A view of `tensor`, one step further.
Tensor MakeView(const Tensor& tensor, ViewStep step);
// How a type is kept on devices (XLA_USE_BF16 and the like).
DType OnDevice(DType logical);
// A scalar tensor: 0 and 1 are part of the graph, others parameters, so that a number that changes
// does not make another graph.
Tensor ScalarTensor(Scalar value, DType type, Device& device);
// 0, of the type and device of `like`: for where(). A product with 0 is none where the other is no
// number, or infinite.
inline Tensor Zero(const Tensor& like) { return ScalarTensor(0, like.dtype(), like.device()); }
// An operand, as errors name it: f32[2,3], 1.5.
std::string TextOf(const Tensor& x);
std::string TextOf(Scalar value);
// Sizes that both can be repeated to, aligned at the last dimension. Raises, by the operation's
// name, where there are none. The last `but` of each are left out.
Dims BroadcastSizes(std::string_view op, const Tensor& a, const Tensor& b, size_t but = 0);
// `x` repeated to these sizes.
Tensor Expanded(const Tensor& x, const Dims& sizes);
// `dim` from the end where it is negative. Raises, by the operation's name, where it is none of
// those that `x` has, and of as many more as are `added`.
int64_t DimOf(std::string_view op, const Tensor& x, int64_t dim, int64_t added = 0);

bool NeedsGrad(const Tensor& input);
bool NeedsGrad(Inputs inputs);
// Makes `out` know where its gradient goes.
Tensor Differentiable(Tensor out, Inputs inputs, std::function<Grads(const Tensor& grad)> vjp);

}  // namespace xlaprof::lazy
