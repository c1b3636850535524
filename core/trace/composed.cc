// Elementwise operations that are made of others. Backends fuse these, so that each is one kernel.
#include <cmath>
#include <numbers>

#include "core/trace/functions.h"
#include "core/trace/reduction.h"

namespace xlaprof::lazy {
Tensor ceil(const Tensor& x, Where where) {
  OpCall call(where);
  return IsFloat(x.dtype()) ? neg(floor(neg(x))) : x.clone();
}

Tensor sign(const Tensor& x, Where where) {
  OpCall call(where);
  const Tensor inside = x.detach();
  if (x.dtype() == DType::kBool) return inside.clone();
  return WithoutSlope(gt(inside, 0).to(x.dtype()) - lt(inside, 0).to(x.dtype()), x);
}

Tensor square(const Tensor& x, Where where) {
  OpCall call(where);
  return x.dtype() == DType::kBool ? pow(x, 2) : x * x;
}

Tensor reciprocal(const Tensor& x, Where where) {
  OpCall call(where);
  Tensor y = 1 / x.detach();
  if (!NeedsGrad(x)) return y;
  return Differentiable(y, {x}, [y = Saved(y)](const Tensor& grad) {
    return Grads{neg(grad * (y.get() * y.get()))};
  });
}

Tensor tan(const Tensor& x, Where where) {
  OpCall call(where);
  const Tensor inside = x.detach();
  Tensor y = sin(inside) / cos(inside);
  if (!NeedsGrad(x)) return y;
  return Differentiable(
      y, {x}, [y = Saved(y)](const Tensor& grad) { return Grads{grad * (y.get() * y.get() + 1)}; });
}

Tensor log2(const Tensor& x, Where where) {
  OpCall call(where);
  return log(x) * std::numbers::log2e;
}

Tensor isnan(const Tensor& x, Where where) {
  OpCall call(where);
  return ne(x.detach(), x.detach());
}

Tensor isinf(const Tensor& x, Where where) {
  OpCall call(where);
  const Tensor inside = x.detach();
  if (!IsFloat(x.dtype())) return ne(inside, inside);
  return eq(abs(inside), INFINITY);
}

Tensor isfinite(const Tensor& x, Where where) {
  OpCall call(where);
  const Tensor inside = x.detach();
  if (!IsFloat(x.dtype())) return eq(inside, inside);
  return lt(abs(inside), INFINITY);
}

Tensor silu(const Tensor& x, Where where) {
  OpCall call(where);
  ExpectFractions("aten::silu", x);
  return x * sigmoid(x);
}

Tensor leaky_relu(const Tensor& x, double negative_slope, Where where) {
  OpCall call(where);
  ExpectFractions("aten::leaky_relu", x);
  return lazy::where(gt(x.detach(), 0), x, x * negative_slope);
}

Tensor softplus(const Tensor& x, double beta, double threshold, Where where) {
  OpCall call(where);
  ExpectFractions("aten::softplus", x);
  const Tensor inside = x.detach(), times = inside * beta;
  // Powers of negative numbers do not overflow.
  const Tensor bent = (relu(times) + log1p(exp(neg(abs(times))))) / beta;
  Tensor out = lazy::where(gt(times, threshold), inside, bent);
  if (!NeedsGrad(x)) return out;
  return Differentiable(out, {x}, [=, x = Saved(x)](const Tensor& grad) {
    const Tensor at = x.get() * beta;
    return Grads{lazy::where(gt(at, threshold), grad, grad * sigmoid(at))};
  });
}

}  // namespace xlaprof::lazy
