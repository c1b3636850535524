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

Tensor deepcopy(const Tensor& x, Where where) {
  OpCall call(where);
  if (ImplOf(x).grad_fn)
    RaiseHere("deepcopy() of a tensor that is the result of an operation: detach() it first");
  Tensor copy = Wrap(x.device(), NodeOf(x), x.dtype());
  copy.impl()->requires_grad = x.requires_grad();
  if (const Tensor grad = x.grad()) copy.impl()->grad = deepcopy(grad);
  return copy;
}

}  // namespace xlaprof::lazy
