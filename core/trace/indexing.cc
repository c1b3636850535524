#include "core/trace/emit.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {
namespace {

// Returns the last of an operation's operands. Raises an Error unless it has integers.
const Tensor& Indices(std::string_view op, Inputs operands) {
  const Tensor& index = std::prev(operands.end())->tensor;
  if (!IsFloat(index.dtype()) && index.dtype() != DType::kBool) return index;
  std::string texts;
  for (const auto& [operand] : operands) texts += (texts.empty() ? "" : ", ") + TextOf(operand);
  RaiseHere("{}({}): the index has type {}, which is not an integer type", op, texts,
            TorchName(index.dtype()));
}

}  // namespace

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index, Where where) {
  OpCall call(where);
  dim = DimOf(op::index_select.name, x, dim);
  const Tensor at = Indices(op::index_select.name, {x, index});
  Tensor out = Emit(op::index_select, {x, at}, {dim});
  if (!NeedsGrad({x})) return out;
  return Differentiable(out, {x}, [dim, sizes = x.sizes(), at = Saved(at)](const Tensor& grad) {
    const Tensor none = zeros(sizes, grad.dtype(), grad.device());
    return Grads{Emit(op::index_add, {none, at.get(), grad}, {dim})};
  });
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, Where where) {
  OpCall call(where);
  dim = DimOf(op::gather.name, x, dim);
  const Tensor at = Indices(op::gather.name, {x, index});
  Tensor out = Emit(op::gather, {x, at}, {dim});
  if (!NeedsGrad({x})) return out;
  return Differentiable(out, {x}, [dim, sizes = x.sizes(), at = Saved(at)](const Tensor& grad) {
    const Tensor none = zeros(sizes, grad.dtype(), grad.device());
    return Grads{Emit(op::scatter_add, {none, at.get(), grad}, {dim})};
  });
}

Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
                   Where where) {
  OpCall call(where);
  dim = DimOf(op::scatter_add.name, x, dim);
  const Tensor at = Indices(op::scatter_add.name, {x, index});
  const Tensor added = from.to(x.dtype());
  if (x.dtype() == DType::kBool) {  // a sum of booleans is true if one of them is
    const Tensor sums = scatter_add(x.to(DType::kI32), dim, at, added.to(DType::kI32));
    return sums.to(DType::kBool);
  }
  Tensor out = Emit(op::scatter_add, {x, at, added}, {dim});
  if (!NeedsGrad({x, added})) return out;
  if (NeedsGrad(added) && added.sizes() != at.sizes()) {
    RaiseHere(
        "aten::scatter_add: the gradient needs as many indices as numbers, but there are {} for {}",
        SizesText(at.sizes()), SizesText(added.sizes()));
  }
  return Differentiable(out, {x, added}, [dim, at = Saved(at)](const Tensor& grad) {
    return Grads{grad, gather(grad, dim, at.get())};
  });
}

namespace {

// Replaces elements of `x`, which therefore get no gradient.
Tensor Scatter(const Tensor& x, int64_t dim, const Tensor& at, const Tensor& from) {
  Tensor out = Emit(op::scatter, {x, at, from}, {dim});
  if (!NeedsGrad({x, from})) return out;
  if (NeedsGrad(from) && from.sizes() != at.sizes()) {
    RaiseHere(
        "aten::scatter: the gradient needs as many indices as numbers, but there are {} for {}",
        SizesText(at.sizes()), SizesText(from.sizes()));
  }
  return Differentiable(out, {x, from}, [dim, at = Saved(at)](const Tensor& grad) {
    const Tensor places = at.get(), none = Zero(grad).expand(places.sizes());
    return Grads{Emit(op::scatter, {grad, places, none}, {dim}), gather(grad, dim, places)};
  });
}

}  // namespace

Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from, Where where) {
  OpCall call(where);
  dim = DimOf(op::scatter.name, x, dim);
  const Tensor at = Indices(op::scatter.name, {x, index});
  if (from.dtype() != x.dtype()) {
    RaiseHere("{}({}, {}, {}): the types differ. Convert the last with to(dtype)", op::scatter.name,
              TextOf(x), TextOf(index), TextOf(from));
  }
  return Scatter(x, dim, at, from);
}

Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, Scalar value, Where where) {
  OpCall call(where);
  dim = DimOf(op::scatter.name, x, dim);
  const Tensor at = Indices(op::scatter.name, {x, index});
  return Scatter(x, dim, at, ScalarTensor(value, x.dtype(), x.device()).expand(at.sizes()));
}

Tensor index_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
                 Where where) {
  OpCall call(where);
  dim = DimOf(op::index_add.name, x, dim);
  const Tensor at = Indices(op::index_add.name, {x, index});
  if (x.dtype() == DType::kBool) {  // a sum of booleans is true if one of them is
    const Tensor sums = index_add(x.to(DType::kI32), dim, at, from.to(DType::kI32));
    return sums.to(DType::kBool);
  }
  Tensor out = Emit(op::index_add, {x, at, from}, {dim});
  if (!NeedsGrad({x, from})) return out;
  return Differentiable(out, {x, from}, [dim, at = Saved(at)](const Tensor& grad) {
    return Grads{grad, index_select(grad, dim, at.get())};
  });
}

Tensor index_copy(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& from,
                  Where where) {
  OpCall call(where);
  dim = DimOf(op::index_copy.name, x, dim);
  const Tensor at = Indices(op::index_copy.name, {x, index});
  Tensor out = Emit(op::index_copy, {x, at, from}, {dim});
  if (!NeedsGrad({x, from})) return out;
  return Differentiable(out, {x, from},
                        [dim, sizes = from.sizes(), at = Saved(at)](const Tensor& grad) {
                          const Tensor places = at.get(), none = Zero(grad).expand(sizes);
                          return Grads{Emit(op::index_copy, {grad, places, none}, {dim}),
                                       index_select(grad, dim, places)};
                        });
}

Tensor embedding(const Tensor& weight, const Tensor& index, Where where) {
  OpCall call(where);
  Dims sizes = Indices("aten::embedding", {weight, index}).sizes();
  sizes.push_back(weight.size(DimOf("aten::embedding", weight, 1)));
  return index_select(weight, 0, index.flatten()).view(sizes);
}

Tensor one_hot(const Tensor& index, int64_t classes, Where where) {
  OpCall call(where);
  return eq(Indices("aten::one_hot", {index}).unsqueeze(-1),
            arange(classes, index.dtype(), index.device()))
      .to(DType::kI64);
}

}  // namespace xlaprof::lazy
