#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

// Makes names usable as template arguments, so that a rule is a plain function.
template <size_t kSize>
struct Text {
  char text[kSize];
  constexpr Text(const char (&from)[kSize]) { std::copy(from, from + kSize, text); }
  constexpr std::string_view view() const { return {text, kSize - 1}; }
};

template <Text kName>
Value One(const Call& call) {
  return call.b.Unary(kName.view(), call[0]);
}
template <Text kName>
Value Two(const Call& call) {
  return call.b.Binary(kName.view(), call[0], call[1]);
}
template <Text kDirection>
Value Comparison(const Call& call) {
  return call.b.Compare(kDirection.view(), call[0], call[1]);
}

// XLA has no abs of unsigned numbers.
Value Abs(const Call& call) {
  return call.type.element == Element::kU8 ? call[0] : call.b.Unary("abs", call[0]);
}

Value Relu(const Call& call) {
  return call.b.Binary("maximum", call[0], call.b.Splat(0, call.type));
}

// Corrects the sign, because XLA's remainder has that of the dividend.
Value Remainder(const Call& call) {
  Builder& b = call.b;
  const Value divisor = call[1], rest = b.Binary("remainder", call[0], divisor),
              zero = b.Splat(0, call.type);
  const Value other_sign =
      b.Compare("NE", b.Compare("LT", rest, zero), b.Compare("LT", divisor, zero));
  return b.Select(b.Binary("and", b.Compare("NE", rest, zero), other_sign),
                  b.Binary("add", rest, divisor), rest);
}

Value Where(const Call& call) { return call.b.Select(call[0], call[1], call[2]); }
Value Cast(const Call& call) { return call.b.Convert(call[0], call.type.element); }

}  // namespace

void AddElementwiseRules(Rules* rules) {
  rules->insert({
      {&op::neg, One<"negate">},
      {&op::abs, Abs},
      {&op::exp, One<"exponential">},
      {&op::log, One<"log">},
      {&op::log1p, One<"log_plus_one">},
      {&op::tanh, One<"tanh">},
      {&op::sqrt, One<"sqrt">},
      {&op::rsqrt, One<"rsqrt">},
      {&op::sigmoid, One<"logistic">},
      {&op::relu, Relu},
      {&op::sin, One<"sine">},
      {&op::cos, One<"cosine">},
      {&op::floor, One<"floor">},
      {&op::round, One<"round_nearest_even">},
      {&op::erf, One<"erf">},
      {&op::logical_not, One<"not">},
      {&op::cast, Cast},
      {&op::add, Two<"add">},
      {&op::sub, Two<"subtract">},
      {&op::mul, Two<"multiply">},
      {&op::div, Two<"divide">},
      {&op::pow, Two<"power">},
      {&op::maximum, Two<"maximum">},
      {&op::minimum, Two<"minimum">},
      {&op::remainder, Remainder},
      {&op::eq, Comparison<"EQ">},
      {&op::ne, Comparison<"NE">},
      {&op::lt, Comparison<"LT">},
      {&op::le, Comparison<"LE">},
      {&op::gt, Comparison<"GT">},
      {&op::ge, Comparison<"GE">},
      {&op::logical_and, Two<"and">},
      {&op::logical_or, Two<"or">},
      {&op::where, Where},
  });
}

}  // namespace xlaprof::lazy::xla
