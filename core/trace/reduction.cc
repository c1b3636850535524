#include "core/trace/reduction.h"

#include <algorithm>
#include <numeric>

#include "core/trace/autocast.h"
#include "core/trace/functions.h"
#include "core/trace/wide.h"

namespace xlaprof::lazy {

Dims ReducedDims(std::string_view op, const Tensor& x, Dims dims) {
  if (dims.empty()) {
    dims.resize(size_t(x.dim()));
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (int64_t& dim : dims) dim = DimOf(op, x, dim);
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  return dims;
}

Tensor Kept(const Tensor& reduced, Dims sizes, const Dims& dims) {
  for (int64_t dim : dims) sizes[size_t(dim)] = 1;
  return reduced.sizes() == sizes ? reduced : reduced.view(sizes);
}

int64_t CountOf(const Tensor& x, const Dims& dims) {
  const Dims sizes = x.sizes();
  int64_t count = 1;
  for (int64_t dim : dims) count *= sizes[size_t(dim)];
  return count;
}

void ExpectFractions(std::string_view op, const Tensor& x) {
  if (IsFloat(x.dtype())) return;
  RaiseHere("{}({}): needs floating-point numbers. Convert them with to(DType::kF32)", op,
            TextOf(x));
}

namespace {

Attributes Over(const Dims& dims, bool keepdim) {
  Attributes attributes{keepdim};
  attributes.insert(attributes.end(), dims.begin(), dims.end());
  return attributes;
}

// Rounds a result that was computed in f32 to the narrow type of the operand.
Tensor InTypeOf(const Tensor& x, const Tensor& result) {
  return IsNarrow(x.dtype()) ? result.to(x.dtype()) : result;
}

// Returns values whose order is the opposite. The negative of the smallest integer would be itself.
Tensor Opposite(const Tensor& x) {
  if (x.dtype() == DType::kBool) return logical_not(x);
  return IsFloat(x.dtype()) ? neg(x) : -1 - x;
}

// Returns true at one element for each result of a reduction: the first one, in the order of the
// dimensions, that `best` takes.
Tensor IsFirst(const Tensor& x, const Dims& dims,
               Tensor (*best)(const Tensor& x, int64_t dim, bool keepdim, Where where)) {
  Dims order, back(size_t(x.dim()));
  for (int64_t dim = 0; dim < x.dim(); ++dim)
    if (!std::binary_search(dims.begin(), dims.end(), dim)) order.push_back(dim);
  const size_t kept = order.size();
  order.insert(order.end(), dims.begin(), dims.end());
  for (size_t i = 0; i < order.size(); ++i) back[size_t(order[i])] = int64_t(i);
  const Tensor ordered = x.permute(order);
  Dims sizes = ordered.sizes();
  sizes.resize(kept);
  sizes.push_back(CountOf(x, dims));
  const Tensor place = best(ordered.view(sizes), -1, /*keepdim=*/true, Call::Where());
  const Tensor is_first = eq(arange(sizes.back(), DType::kI64, x.device()), place);
  return is_first.view(ordered.sizes()).permute(back);
}

// Returns the largest or smallest elements. The gradient is divided equally among the elements that
// equal the result. One of them is found by its place: XLA may compute `x` again for a comparison
// with the result, rounded otherwise, and then no element equals it. A result that is NaN equals no
// element.
Tensor Extreme(const Op& op, const Tensor& x, Dims given, bool keepdim) {
  const Dims dims = ReducedDims(op.name, x, std::move(given));
  Tensor out = Emit(op, {x}, Over(dims, keepdim));
  if (!NeedsGrad({x})) return out;
  const auto best = &op == &op::amax ? argmax : argmin;
  return Differentiable(out, {x}, [dims, best, x = Saved(x), y = Saved(out)](const Tensor& grad) {
    const Tensor from = x.get();
    const Tensor result = Kept(y.get(), from.sizes(), dims);
    const Tensor is_first = logical_and(IsFirst(from.detach(), dims, best), eq(result, result));
    const Tensor chosen = logical_or(eq(from, result), is_first).to(grad.dtype());
    const Tensor share = Kept(grad, from.sizes(), dims) / sum(chosen, dims, /*keepdim=*/true);
    return Grads{chosen * share};
  });
}

}  // namespace

Tensor sum(const Tensor& x, DimList given, bool keepdim, Where where) {
  OpCall call(where);
  const Dims dims = ReducedDims(op::sum.name, x, std::move(given));
  const Tensor from = IsFloat(x.dtype()) ? x : x.to(DType::kI64);
  Tensor out = dims.empty() ? from.clone() : Emit(op::sum, {from}, Over(dims, keepdim));
  if (dims.empty() || !NeedsGrad({from})) return out;
  return Differentiable(out, {from}, [dims, sizes = from.sizes()](const Tensor& grad) {
    return Grads{Kept(grad, sizes, dims).expand(sizes)};
  });
}

Tensor mean(const Tensor& x, DimList dims, bool keepdim, Where where) {
  OpCall call(where);
  ExpectFractions("aten::mean", x);
  dims = ReducedDims("aten::mean", x, std::move(dims));
  return (sum(Wide(x), dims, keepdim) / double(CountOf(x, dims))).to(x.dtype());
}

Tensor amax(const Tensor& x, DimList dims, bool keepdim, Where where) {
  OpCall call(where);
  return Extreme(op::amax, x, std::move(dims), keepdim);
}

Tensor amin(const Tensor& x, DimList dims, bool keepdim, Where where) {
  OpCall call(where);
  return Extreme(op::amin, x, std::move(dims), keepdim);
}

Tensor prod(const Tensor& x, DimList given, bool keepdim, Where where) {
  OpCall call(where);
  const Dims dims = ReducedDims(op::prod.name, x, std::move(given));
  const Tensor from = IsFloat(x.dtype()) ? AutocastToF32(x) : x.to(DType::kI64);
  Tensor out = Emit(op::prod, {from}, Over(dims, keepdim));
  if (!NeedsGrad({from})) return out;
  return Differentiable(out, {from}, [dims, x = Saved(from)](const Tensor& grad) {
    // If a product has one factor 0, only that factor has a gradient; with two or more, none has.
    const Tensor factors = x.get();
    const Tensor is_none = eq(factors, 0);
    const Tensor nones = sum(is_none.to(factors.dtype()), dims, /*keepdim=*/true);
    const Tensor rest =
        lazy::where(is_none, ScalarTensor(1, factors.dtype(), factors.device()), factors);
    const Tensor slope = prod(rest, dims, /*keepdim=*/true) / rest;
    const Tensor left = logical_or(eq(nones, 0), logical_and(is_none, eq(nones, 1)));
    return Grads{lazy::where(left, Kept(grad, factors.sizes(), dims) * slope, Zero(factors))};
  });
}

Tensor argmax(const Tensor& x, int64_t dim, bool keepdim, Where where) {
  OpCall call(where);
  return Emit(op::argmax, {x}, {keepdim, DimOf(op::argmax.name, x, dim)}, DType::kI64);
}

namespace {

ValuesAndIndices ChosenAt(const Tensor& x, int64_t dim, const Tensor& places, bool keepdim) {
  const Tensor values = gather(x, dim, places);
  if (keepdim) return {values, places};
  return {values.squeeze(dim), places.squeeze(dim)};
}

}  // namespace

Tensor argmin(const Tensor& x, int64_t dim, bool keepdim, Where where) {
  OpCall call(where);
  return argmax(Opposite(x.detach()), dim, keepdim);
}

ValuesAndIndices max(const Tensor& x, int64_t dim, bool keepdim, Where where) {
  OpCall call(where);
  return ChosenAt(x, dim, argmax(x, dim, /*keepdim=*/true), keepdim);
}

ValuesAndIndices min(const Tensor& x, int64_t dim, bool keepdim, Where where) {
  OpCall call(where);
  return ChosenAt(x, dim, argmin(x, dim, /*keepdim=*/true), keepdim);
}

Tensor max(const Tensor& x, Where where) { return amax(x, {}, /*keepdim=*/false, where); }
Tensor min(const Tensor& x, Where where) { return amin(x, {}, /*keepdim=*/false, where); }

Tensor logsumexp(const Tensor& x, int64_t dim, bool keepdim, Where where) {
  OpCall call(where);
  dim = DimOf("aten::logsumexp", x, dim);
  // There is no largest element of nothing, and the logarithm of an empty sum is -infinity.
  if (x.size(dim) == 0) return log(sum(exp(x), {dim}, keepdim));
  // Subtracts the largest element so that nothing overflows. It takes no part in the gradient.
  const Tensor wide = Wide(x);
  Tensor largest = amax(wide.detach(), {dim}, /*keepdim=*/true);
  largest = lazy::where(eq(abs(largest), INFINITY), Zero(largest), largest);
  const Tensor all = log(sum(exp(wide - largest), {dim}, /*keepdim=*/true)) + largest;
  return InTypeOf(x, keepdim ? all : all.squeeze(dim));
}

namespace {

// Returns the softmax of a tensor without elements: another one, of a floating-point type. amax()
// raises an Error there, because nothing has no largest element.
Tensor SoftmaxOfNothing(const Tensor& x) {
  return IsFloat(x.dtype()) ? x.clone() : x.to(DType::kF32);
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim, Where where) {
  OpCall call(where);
  dim = DimOf("aten::softmax", x, dim);
  if (x.numel() == 0) return SoftmaxOfNothing(x);
  const Tensor wide = Wide(x);
  const Tensor powers = exp(wide - amax(wide.detach(), {dim}, /*keepdim=*/true));
  return InTypeOf(x, powers / sum(powers, {dim}, /*keepdim=*/true));
}

Tensor log_softmax(const Tensor& x, int64_t dim, Where where) {
  OpCall call(where);
  dim = DimOf("aten::log_softmax", x, dim);
  if (x.numel() == 0) return SoftmaxOfNothing(x);
  const Tensor wide = Wide(x), centered = wide - amax(wide.detach(), {dim}, /*keepdim=*/true);
  return InTypeOf(x, centered - log(sum(exp(centered), {dim}, /*keepdim=*/true)));
}

}  // namespace xlaprof::lazy
