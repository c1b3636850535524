// Records operations in the graph, for core/trace only: operands to nodes, results to tensors, and
// what most operations need before (sizes, dimensions, numbers as tensors).
#pragma once

#include <string>
#include <string_view>

#include "core/trace/tensor_impl.h"

namespace xlaprof::lazy {

// Applies the steps of a view to a value.
NodePtr Through(NodePtr value, std::span<const ViewStep> steps);
// Borrows a tensor's value until the tensor is written or destroyed. The storage holds that value;
// for a view, this object does. While it lives, no thread cuts the tensor. A NodePtr made from it
// may live longer, but only inside of another GraphLock may an operation use that.
class BorrowedNode {
 public:
  explicit BorrowedNode(const TensorImpl& tensor) {
    const NodePtr& value = tensor.storage->value();
    if (!tensor.steps.empty()) view_ = Through(value, tensor.steps.all());
    node_ = view_ ? view_.get() : value.get();
  }
  const Node* get() const { return node_; }
  const Node* operator->() const { return node_; }
  operator NodePtr() const { return NodePtr(node_); }

 private:
  const GraphLock lock_;
  NodePtr view_;
  const Node* node_;
};
inline BorrowedNode NodeOf(const Tensor& tensor) { return BorrowedNode(ImplOf(tensor)); }
// Sends values to a device, in the type in which it keeps them. A device that consists of several
// divides them by the sharding.
Tensor Sent(const void* values, Shape shape, Device& device, const Sharding& sharding = {});
// Converts values to another type.
HostTensor Converted(const void* values, const Shape& shape, DType type);
// Computes a storage's value and waits for it, as EagerMode does after each operation.
void ExecuteNow(const Ref<Storage>& storage);
// Returns the operation of the value that the calling thread last passed to Wrap().
const Op* LastWrapped();
// Returns a new tensor with this value, in the type in which devices keep the logical one.
Tensor Wrap(Device& device, NodePtr value, DType logical);
// Records an operation at the line of the outermost call.
Tensor Emit(const Op& op, Inputs operands, absl::Span<const int64_t> attributes, DType logical);
inline Tensor Emit(const Op& op, Inputs operands, absl::Span<const int64_t> attributes = {}) {
  return Emit(op, operands, attributes, operands.begin()->tensor.dtype());
}
// Returns a tensor of a storage's value through `steps`. It is a view of no tensor, and has no
// history.
Tensor ViewOf(Ref<Storage> storage, ViewSteps steps);
// Returns a view of `tensor` that is one step further, whose sizes this finds. It has no history yet.
Tensor MakeView(const Tensor& tensor, ViewStep step);
// Returns the gradient of a view's input, which has sizes `from`, given that of the view.
Tensor GradOfInput(const ViewStep& step, const Dims& from, const Tensor& grad);
// Returns the gradient of an operand of these sizes that was broadcast.
Tensor SumTo(const Tensor& grad, const Dims& sizes);
// Returns the type in which devices keep a logical type (XLA_USE_BF16 and similar variables).
DType OnDevice(DType logical);
// Raises an Error with the operation's name if a type of integers cannot hold the number. Unsigned
// types hold negative numbers, too, which wrap around.
void ExpectFits(std::string_view op, Scalar value, DType type);
// Returns a scalar tensor. 0 and 1 are part of the graph, unless the device is one of several
// ranks. Other numbers are parameters, so that a new value does not make another graph.
Tensor ScalarTensor(Scalar value, DType type, Device& device);
// Returns 0 in the type and on the device of `like`, for where(). Multiplying by 0 instead would
// turn NaN and infinities into NaN.
inline Tensor Zero(const Tensor& like) { return ScalarTensor(0, like.dtype(), like.device()); }
// Returns `out`, which was recorded without a history, as a function of `x` whose gradient is 0.
Tensor WithoutSlope(Tensor out, const Tensor& x);
// Returns an operand's text for errors: f32[2,3], 1.5.
std::string TextOf(const Tensor& x);
std::string TextOf(Scalar value);
// Returns the sizes to which both can be broadcast, aligned at the last dimension. Raises an Error
// with the operation's name if there are none. The last `but` dimensions of each are excluded.
Dims BroadcastSizes(std::string_view op, const Tensor& a, const Tensor& b, size_t but = 0);
// Returns `x` broadcast to these sizes.
Tensor Expanded(const Tensor& x, const Dims& sizes);
// Returns `dim`, counted from the end if it is negative. Raises an Error with the operation's name
// if `x`, with `added` more dimensions, does not have it.
int64_t DimOf(std::string_view op, const Tensor& x, int64_t dim, int64_t added = 0);

}  // namespace xlaprof::lazy
