#include "core/trace/functions.h"
#include "core/trace/tensor_impl.h"

namespace xlaprof::lazy {
namespace {

Tensor Indices(const Tensor& index) {
  if (!IsFloat(index.dtype()) && index.dtype() != DType::kBool) return index;
  RaiseHere("an index of type {}: it must be of whole numbers", TorchName(index.dtype()));
}

}  // namespace

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index, Where where) {
  Call call(where);
  dim = DimOf(dim, x.dim());
  const Tensor at = Indices(index);
  Tensor out = Emit(op::index_select, {x, at}, {dim});
  if (!NeedsGrad({x})) return out;
  return Differentiable(out, {x}, [dim, sizes = x.sizes(), at = Saved(at)](const Tensor& grad) {
    const Tensor none = zeros(sizes, grad.dtype(), grad.device());
    return Grads{Emit(op::index_add, {none, at.get(), grad}, {dim})};
  });
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, Where where) {
  Call call(where);
  dim = DimOf(dim, x.dim());
  const Tensor at = Indices(index);
  Tensor out = Emit(op::gather, {x, at}, {dim});
  if (!NeedsGrad({x})) return out;
  return Differentiable(out, {x}, [dim, sizes = x.sizes(), at = Saved(at)](const Tensor& grad) {
    const Tensor none = zeros(sizes, grad.dtype(), grad.device());
    return Grads{Emit(op::scatter_add, {none, at.get(), grad}, {dim})};
  });
}

Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
                   Where where) {
  Call call(where);
  dim = DimOf(dim, x.dim());
  const Tensor at = Indices(index);
  Tensor out = Emit(op::scatter_add, {x, at, from.to(x.dtype())}, {dim});
  if (!NeedsGrad({x, from})) return out;
  return Differentiable(out, {x, from}, [dim, at = Saved(at)](const Tensor& grad) {
    return Grads{grad, gather(grad, dim, at.get())};
  });
}

Tensor embedding(const Tensor& weight, const Tensor& index, Where where) {
  Call call(where);
  Dims sizes = index.sizes();
  sizes.push_back(weight.size(1));
  return index_select(weight, 0, index.flatten()).view(sizes);
}

Tensor one_hot(const Tensor& index, int64_t classes, Where where) {
  Call call(where);
  return eq(Indices(index).unsqueeze(-1), arange(classes, index.dtype(), index.device()))
      .to(DType::kI64);
}

}  // namespace xlaprof::lazy
