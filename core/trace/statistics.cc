// Norms, variances, running sums, and whether any or all elements are true.
#include <cmath>

#include "core/trace/functions.h"
#include "core/trace/reduction.h"
#include "core/trace/wide.h"

namespace xlaprof::lazy {
namespace {

// Returns the square root of a sum of squares. Where it is 0, its gradient is 0, as in PyTorch.
Tensor RootOfSum(const Tensor& x, const Dims& dims, bool keepdim) {
  const Tensor inside = x.detach();
  Tensor out = sqrt(sum(inside * inside, dims, keepdim));
  if (!NeedsGrad(x)) return out;
  return Differentiable(out, {x}, [dims, x = Saved(x), y = Saved(out)](const Tensor& grad) {
    const Tensor from = x.get(), root = Kept(y.get(), from.sizes(), dims);
    const Tensor slope =
        lazy::where(eq(root, 0), Zero(root), Kept(grad, from.sizes(), dims) / root);
    return Grads{from * slope};
  });
}

// Returns `out`, a count, as a function of `x` that gives it no gradient, not even 0, as in PyTorch.
Tensor Counted(Tensor out, const Tensor& x) {
  if (!NeedsGrad(x)) return out;
  return Differentiable(std::move(out), {x}, [](const Tensor&) { return Grads{Tensor()}; });
}

Tensor NormOf(const Tensor& x, double p, const Dims& dims, bool keepdim) {
  if (p == 2) return RootOfSum(x, dims, keepdim);
  if (p == 1) return sum(abs(x), dims, keepdim);
  if (p == 0) return Counted(sum(ne(x.detach(), 0).to(x.dtype()), dims, keepdim), x);
  if (std::isinf(p)) return (p > 0 ? amax : amin)(abs(x), dims, keepdim, Where::current());
  // Elements of 0 get no gradient. Their powers have the slope 0 or infinity, by which nothing is
  // multiplied.
  const Tensor size = abs(x), none = eq(size.detach(), 0);
  if (p < 0) return pow(sum(pow(size, p), dims, keepdim), 1 / p);
  const Tensor one = ScalarTensor(1, x.dtype(), x.device());
  const Tensor powers = lazy::where(none, Zero(size), pow(lazy::where(none, one, size), p));
  const Tensor all = sum(powers, dims, keepdim), is_none = eq(all.detach(), 0);
  return lazy::where(is_none, Zero(all), pow(lazy::where(is_none, one, all), 1 / p));
}

// Returns true or false for each reduced part: whether any element is true, or all are.
Tensor Truth(std::string_view op, const Tensor& x, Dims dims, bool keepdim, bool of_nothing) {
  dims = ReducedDims(op, x, std::move(dims));
  const Tensor truth = x.detach().to(DType::kBool);
  if (dims.empty()) return truth.clone();
  if (CountOf(x, dims) == 0) {
    const Dims sizes = sum(truth, dims, keepdim).sizes();
    return full(sizes, of_nothing, DType::kBool, x.device());
  }
  return (of_nothing ? amin : amax)(truth, dims, keepdim, Where::current());
}

}  // namespace

Tensor norm(const Tensor& x, double p, DimList dims, bool keepdim, Where where) {
  OpCall call(where);
  constexpr std::string_view kName = "aten::norm";
  ExpectFractions(kName, x);
  dims = ReducedDims(kName, x, std::move(dims));
  if (dims.empty()) return p == 0 ? Counted(ne(x.detach(), 0).to(x.dtype()), x) : abs(x);
  return NormOf(Wide(x), p, dims, keepdim).to(x.dtype());
}

Tensor var(const Tensor& x, DimList dims, int64_t correction, bool keepdim, Where where) {
  OpCall call(where);
  constexpr std::string_view kName = "aten::var";
  ExpectFractions(kName, x);
  dims = ReducedDims(kName, x, std::move(dims));
  const int64_t count = CountOf(x, dims);
  const double divisor = double(std::max<int64_t>(0, count - correction));
  const Tensor wide = Wide(x), inside = wide.detach();
  auto centered = [dims, count](const Tensor& values) {
    return values - sum(values, dims, /*keepdim=*/true) / double(count);
  };
  const Tensor off = centered(inside);
  // A variance of one element without dimensions is that of a list of one.
  const Tensor squares = off * off;
  Tensor out = (dims.empty() ? squares : sum(squares, dims, keepdim)) / divisor;
  if (NeedsGrad(wide)) {
    out = Differentiable(out, {wide}, [=, x = Saved(wide)](const Tensor& grad) {
      const Tensor from = x.get();
      return Grads{Kept(grad, from.sizes(), dims) * centered(from) * (2 / divisor)};
    });
  }
  return out.to(x.dtype());
}

Tensor std(const Tensor& x, DimList dims, int64_t correction, bool keepdim, Where where) {
  OpCall call(where);
  const Tensor variance = var(Wide(x), std::move(dims), correction, keepdim);
  Tensor out = sqrt(variance.detach());
  if (NeedsGrad(variance)) {
    out = Differentiable(out, {variance}, [y = Saved(out)](const Tensor& grad) {
      const Tensor root = y.get();
      return Grads{lazy::where(eq(root, 0), Zero(root), grad / (root * 2))};
    });
  }
  return out.to(x.dtype());
}

Tensor cumsum(const Tensor& x, int64_t dim, Where where) {
  OpCall call(where);
  const Tensor from = IsFloat(x.dtype()) ? x : x.to(DType::kI64);
  dim = DimOf(op::cumsum.name, x, dim);
  Tensor out = Emit(op::cumsum, {from}, {dim});
  if (!NeedsGrad({from})) return out;
  return Differentiable(out, {from}, [dim](const Tensor& grad) {
    return Grads{flip(Emit(op::cumsum, {flip(grad, {dim})}, {dim}), {dim})};
  });
}

Tensor any(const Tensor& x, DimList dims, bool keepdim, Where where) {
  OpCall call(where);
  return Truth("aten::any", x, std::move(dims), keepdim, /*of_nothing=*/false);
}

Tensor all(const Tensor& x, DimList dims, bool keepdim, Where where) {
  OpCall call(where);
  return Truth("aten::all", x, std::move(dims), keepdim, /*of_nothing=*/true);
}

}  // namespace xlaprof::lazy
