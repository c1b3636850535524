#include "core/trace/emit.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {

Tensor Tensor::to(Device& to, Where where) const {
  Device& from = device();
  if (&from == &to) return *this;
  Call call(where);
  Tensor out = FromHost(to_cpu(), to);
  if (!NeedsGrad(*this)) return out;
  return Differentiable(out, {*this}, [&from](const Tensor& grad) { return Grads{grad.to(from)}; });
}

void Tensor::set_data(const Tensor& from, Where where) {
  OpCall call(where);
  TensorImpl& impl = ImplOf(*this);
  UpdateHistory(impl);
  if (!impl.is_leaf()) RaiseHere("set_data() of a tensor that is the result of an operation");
  const TensorImpl& other = ImplOf(from);
  impl.storage = other.storage;
  impl.steps = other.steps;
  impl.base = nullptr;
}

Tensor deepcopy(const Tensor& x, Where where) {
  OpCall call(where);
  UpdateHistory(ImplOf(x));
  if (!ImplOf(x).is_leaf())
    RaiseHere("deepcopy() of a tensor that is the result of an operation: detach() it first");
  Tensor copy = Wrap(x.device(), NodeOf(x), x.dtype());
  copy.impl()->requires_grad = x.requires_grad();
  if (const Tensor grad = x.grad(); grad.defined()) copy.impl()->grad = deepcopy(grad);
  return copy;
}

}  // namespace xlaprof::lazy
