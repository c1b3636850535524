#include <cmath>
#include <numbers>

#include "core/trace/emit.h"
#include "core/trace/functions.h"

namespace xlaprof::lazy {
namespace {

// Returns whether both have this type and the same sizes, as operations on several tensors require.
bool AreAlike(const Tensor& a, const Tensor& b, DType type) {
  return ImplOf(a).storage->logical() == type && ImplOf(b).storage->logical() == type &&
         ImplOf(a).sizes() == ImplOf(b).sizes();
}

DType FractionType(DType type) { return IsFloat(type) ? type : DType::kF32; }

// Returns the type of the result of two tensors. A tensor without dimensions counts only if its
// type is of a higher kind, such as a float beside integers.
DType TypeOf(const Tensor& a, const Tensor& b) {
  const DType left = a.dtype(), right = b.dtype();
  if (left == right) return left;
  const bool left_has = a.dim() > 0, right_has = b.dim() > 0;
  if (left_has == right_has) return Promote(left, right);
  const DType wide = left_has ? left : right, number = left_has ? right : left;
  const bool is_higher = wide == DType::kBool || (IsFloat(number) && !IsFloat(wide));
  return is_higher ? Promote(wide, number) : wide;
}
// Returns the type of the result of a tensor and a number.
DType TypeOf(const Tensor& x, Scalar value) {
  if (!value.is_whole) return FractionType(x.dtype());
  return x.dtype() == DType::kBool && !value.is_truth ? DType::kI64 : x.dtype();
}
DType TypeOf(Scalar value, const Tensor& x) { return TypeOf(x, value); }

template <class A, class B>
DType FractionTypeOf(const A& a, const B& b) {
  return FractionType(TypeOf(a, b));
}

template <class A, class B>
DType TruthTypeOf(const A&, const B&) {
  return DType::kBool;
}

bool IsTruth(const Tensor& x) { return x.dtype() == DType::kBool; }
bool IsTruth(Scalar value) { return value.is_truth; }

template <class A, class B>
DType DifferenceTypeOf(const A& a, const B& b) {
  if (!IsTruth(a) && !IsTruth(b)) return TypeOf(a, b);
  RaiseHere("{}({}, {}): boolean values cannot be subtracted. Use logical_not() or ne()",
            op::sub.name, TextOf(a), TextOf(b));
}

template <class A>
DType PowerTypeOf(const A& a, const Tensor& exponent) {
  return TypeOf(a, exponent);
}
DType PowerTypeOf(const Tensor& x, Scalar exponent) {
  const DType type = TypeOf(x, exponent);
  if (IsFloat(type) || exponent.whole >= 0) return type;
  RaiseHere(
      "{}({}, {}): integers cannot be raised to a negative power. Convert them with to(DType::kF32)",
      op::pow.name, TextOf(x), TextOf(exponent));
}

// A function that computes a gradient. It reads the saved tensors only if it needs them.
using UnaryVjp = Tensor (*)(const Tensor& grad, const Saved& x, const Saved& y);

Tensor Unary(const Op& op, const Tensor& x, UnaryVjp vjp) {
  if (vjp != nullptr && !IsFloat(x.dtype())) return Unary(op, x.to(DType::kF32), vjp);
  Tensor y = Emit(op, {x});
  if (vjp == nullptr || !NeedsGrad(x)) return y;
  return Differentiable(y, {x}, [vjp, x = Saved(x), y = Saved(y)](const Tensor& grad) {
    return Grads{vjp(grad, x, y)};
  });
}

using BinaryVjp = Tensor (*)(const Tensor& grad, const Saved& a, const Saved& b);

Tensor Binary(const Op& op, const Tensor& a, const Tensor& b, DType type, BinaryVjp to_a,
              BinaryVjp to_b, bool saves = true) {
  if (!AreAlike(a, b, type)) {
    const Dims sizes = BroadcastSizes(op.name, a, b);
    return Binary(op, Expanded(a.to(type), sizes), Expanded(b.to(type), sizes), type, to_a, to_b,
                  saves);
  }
  Tensor out = Emit(op, {a, b}, {}, type);
  const bool needs_a = NeedsGrad(a), needs_b = NeedsGrad(b);
  if (!needs_a && !needs_b) return out;
  return Differentiable(
      out, {a, b},
      [=, a = saves ? Saved(a) : Saved(), b = saves ? Saved(b) : Saved()](const Tensor& grad) {
        return Grads{needs_a ? to_a(grad, a, b) : Tensor(), needs_b ? to_b(grad, a, b) : Tensor()};
      });
}

Tensor Compare(const Op& op, const Tensor& a, const Tensor& b, DType type) {
  if (!AreAlike(a, b, type)) {
    const Dims sizes = BroadcastSizes(op.name, a, b);
    return Compare(op, Expanded(a.to(type), sizes), Expanded(b.to(type), sizes), type);
  }
  return Emit(op, {a, b}, {}, DType::kBool);
}

}  // namespace

Tensor Tensor::to(DType type, Where where) const {
  if (type == dtype()) return *this;
  OpCall call(where);
  Tensor out = Emit(op::cast, {*this}, {int64_t(OnDevice(type))}, type);
  if (!IsFloat(type) || !NeedsGrad({*this})) return out;
  return Differentiable(out, {*this},
                        [from = dtype()](const Tensor& grad) { return Grads{grad.to(from)}; });
}

Tensor Tensor::clone(Where where) const {
  OpCall call(where);
  Tensor out = Wrap(device(), NodeOf(*this), dtype());
  if (!NeedsGrad({*this})) return out;
  return Differentiable(out, {*this}, [](const Tensor& grad) { return Grads{grad}; });
}

namespace {

// Returns the gradient to `a` of the larger of two, or of the smaller if both are negated. Equal
// elements share the gradient, and NaN passes it on.
Tensor OfTheLarger(const Tensor& grad, const Tensor& a, const Tensor& b) {
  return where(lt(a, b), Zero(grad), where(eq(a, b), grad * 0.5, grad));
}

}  // namespace

#define UNARY(name, vjp)                      \
  Tensor name(const Tensor& x, Where where) { \
    OpCall call(where);                       \
    return Unary(op::name, x, vjp);           \
  }
using T = const Tensor&;
using S = const Saved&;
UNARY(exp, [](T grad, S, S y) { return grad * y.get(); })
UNARY(log, [](T grad, S x, S) { return grad / x.get(); })
UNARY(log1p, [](T grad, S x, S) { return grad / (x.get() + 1); })
UNARY(tanh, [](T grad, S, S y) { return grad * (1 - y.get() * y.get()); })
UNARY(sqrt, [](T grad, S, S y) { return grad / (y.get() * 2); })
UNARY(rsqrt, [](T grad, S, S y) { return grad * (y.get() * y.get() * y.get()) * -0.5; })
UNARY(sigmoid, [](T grad, S, S y) { return grad * (y.get() * (1 - y.get())); })
UNARY(sin, [](T grad, S x, S) { return grad * cos(x.get()); })
UNARY(cos, [](T grad, S x, S) { return neg(grad * sin(x.get())); })
UNARY(erf, [](T grad, S x, S) {
  return grad * exp(neg(x.get() * x.get())) * (2 / std::sqrt(std::numbers::pi));
})
#undef UNARY

// Defines operations that also take integers, and keep their type.
#define UNARY_OF_ALL(name, vjp)                                       \
  Tensor name(const Tensor& x, Where where) {                         \
    OpCall call(where);                                               \
    return Unary(op::name, x, IsFloat(x.dtype()) ? +(vjp) : nullptr); \
  }
UNARY_OF_ALL(neg, [](T grad, S, S) { return neg(grad); })
UNARY_OF_ALL(abs, [](T grad, S x, S) {
  return lazy::where(lt(x.get(), 0), neg(grad), lazy::where(gt(x.get(), 0), grad, Zero(grad)));
})
UNARY_OF_ALL(relu, [](T grad, S, S y) { return lazy::where(le(y.get(), 0), Zero(grad), grad); })
#undef UNARY_OF_ALL

// Defines operations that give integers, which are their own result.
#define ROUNDING(name)                                                                       \
  Tensor name(const Tensor& x, Where where) {                                                \
    OpCall call(where);                                                                      \
    if (!IsFloat(x.dtype())) return x.clone();                                               \
    return Unary(op::name, x, [](T grad, S, S) { return Zero(grad).expand(grad.sizes()); }); \
  }
ROUNDING(floor)
ROUNDING(round)
#undef ROUNDING

Tensor logical_not(const Tensor& x, Where where) {
  OpCall call(where);
  return Emit(op::logical_not, {x.to(DType::kBool)});
}

Tensor gelu(const Tensor& x, std::string_view approximate, Where where) {
  OpCall call(where);
  if (approximate == "none") return x * 0.5 * (erf(x * std::sqrt(0.5)) + 1);
  if (approximate == "tanh") {
    const Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / std::numbers::pi);
    return x * 0.5 * (tanh(inner) + 1);
  }
  RaiseHere("aten::gelu({}): approximate is \"{}\", but it must be \"none\" or \"tanh\"", TextOf(x),
            approximate);
}

// Defines each operation for two tensors, and for a tensor and a number on either side.
#define OF_TWO(name, type_of, of_alike, ...)                                   \
  Tensor name(const Tensor& a, const Tensor& b, Where where) {                 \
    OpCall call(where);                                                        \
    return of_alike(op::name, a, b, type_of(a, b) __VA_OPT__(, ) __VA_ARGS__); \
  }                                                                            \
  Tensor name(const Tensor& a, Scalar b, Where where) {                        \
    OpCall call(where);                                                        \
    const DType type = type_of(a, b);                                          \
    return of_alike(op::name, a, ScalarTensor(b, type, a.device()),            \
                    type __VA_OPT__(, ) __VA_ARGS__);                          \
  }                                                                            \
  Tensor name(Scalar a, const Tensor& b, Where where) {                        \
    OpCall call(where);                                                        \
    const DType type = type_of(a, b);                                          \
    return of_alike(op::name, ScalarTensor(a, type, b.device()), b,            \
                    type __VA_OPT__(, ) __VA_ARGS__);                          \
  }
#define BINARY(name, type_of, ...) OF_TWO(name, type_of, Binary, __VA_ARGS__)
BINARY(
    add, TypeOf, [](T grad, S, S) { return grad; }, [](T grad, S, S) { return grad; },
    /*saves=*/false)
BINARY(
    sub, DifferenceTypeOf, [](T grad, S, S) { return grad; },
    [](T grad, S, S) { return neg(grad); },
    /*saves=*/false)
BINARY(
    mul, TypeOf, [](T grad, S, S b) { return grad * b.get(); },
    [](T grad, S a, S) { return grad * a.get(); })
BINARY(
    div, FractionTypeOf, [](T grad, S, S b) { return grad / b.get(); },
    [](T grad, S a, S b) { return neg(grad * a.get() / (b.get() * b.get())); })
BINARY(
    pow, PowerTypeOf,
    [](T grad, S a, S b) {
      const Tensor slope = grad * b.get() * pow(a.get(), b.get() - 1);
      return lazy::where(eq(b.get(), 0), Zero(grad), slope);
    },
    [](T grad, S a, S b) {
      const Tensor slope = grad * pow(a.get(), b.get()) * log(a.get());
      return lazy::where(logical_and(eq(a.get(), 0), ge(b.get(), 0)), Zero(grad), slope);
    })
BINARY(
    maximum, TypeOf, [](T grad, S a, S b) { return OfTheLarger(grad, a.get(), b.get()); },
    [](T grad, S a, S b) { return OfTheLarger(grad, b.get(), a.get()); })
BINARY(
    minimum, TypeOf, [](T grad, S a, S b) { return OfTheLarger(grad, neg(a.get()), neg(b.get())); },
    [](T grad, S a, S b) { return OfTheLarger(grad, neg(b.get()), neg(a.get())); })
BINARY(
    remainder, TypeOf, [](T grad, S, S) { return grad; },
    [](T grad, S a, S b) { return neg(grad * floor(a.get() / b.get())); })
#undef BINARY

#define COMPARE(name, type_of) OF_TWO(name, type_of, Compare)
COMPARE(eq, TypeOf)
COMPARE(ne, TypeOf)
COMPARE(lt, TypeOf)
COMPARE(le, TypeOf)
COMPARE(gt, TypeOf)
COMPARE(ge, TypeOf)
COMPARE(logical_and, TruthTypeOf)
COMPARE(logical_or, TruthTypeOf)
#undef COMPARE
#undef OF_TWO

Tensor where(const Tensor& condition, const Tensor& then, const Tensor& otherwise, Where where) {
  OpCall call(where);
  const DType type = TypeOf(then, otherwise);
  Dims sizes = BroadcastSizes(op::where.name, then, otherwise);
  const Tensor chosen = Expanded(then.to(type), sizes);
  sizes = BroadcastSizes(op::where.name, condition, chosen);
  const Tensor mask = Expanded(condition.to(DType::kBool), sizes);
  const Tensor a = Expanded(chosen, sizes), b = Expanded(otherwise.to(type), sizes);
  Tensor out = Emit(op::where, {mask, a, b}, {}, type);
  if (!NeedsGrad({a, b})) return out;
  return Differentiable(out, {mask, a, b}, [mask = Saved(mask)](const Tensor& grad) {
    const Tensor none = Zero(grad);
    return Grads{Tensor(), lazy::where(mask.get(), grad, none),
                 lazy::where(mask.get(), none, grad)};
  });
}

Tensor where(const Tensor& condition, const Tensor& then, Scalar otherwise, Where where) {
  OpCall call(where);
  return lazy::where(condition, then,
                     ScalarTensor(otherwise, TypeOf(then, otherwise), then.device()));
}

Tensor where(const Tensor& condition, Scalar then, const Tensor& otherwise, Where where) {
  OpCall call(where);
  return lazy::where(condition, ScalarTensor(then, TypeOf(then, otherwise), otherwise.device()),
                     otherwise);
}

Tensor clamp(const Tensor& x, Scalar least, Scalar most, Where where) {
  OpCall call(where);
  const Tensor inside = x.detach();
  Tensor out = minimum(maximum(inside, least), most);
  if (!NeedsGrad(x)) return out;
  return Differentiable(out, {x}, [=, x = Saved(x), type = x.dtype()](const Tensor& grad) {
    const Tensor is_inside = logical_and(ge(x.get(), least), le(x.get(), most));
    return Grads{lazy::where(is_inside, grad, Zero(grad)).to(type)};
  });
}

}  // namespace xlaprof::lazy
