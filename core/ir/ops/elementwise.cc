#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

using Check = void (*)(const Shape&);
void Anything(const Shape&) {}

template <Check kCheck>
Shape Unary(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectAttributes(attributes, 0);
  kCheck(*operands[0]);
  return *operands[0];
}

template <Check kCheck>
Shape Binary(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 2);
  ExpectAttributes(attributes, 0);
  ExpectSame(*operands[0], *operands[1]);
  kCheck(*operands[0]);
  return *operands[0];
}

Shape Comparison(Shapes operands, const Attributes& attributes) {
  return {DType::kBool, Binary<Anything>(operands, attributes).dims};
}

Shape Choice(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 3);
  ExpectAttributes(attributes, 0);
  ExpectTruth(*operands[0]);
  ExpectSame(*operands[1], *operands[2]);
  ExpectSameSizes(*operands[0], *operands[1]);
  return *operands[1];
}

Shape Cast(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectAttributes(attributes, 1);
  return {ExpectDType(attributes[0]), operands[0]->dims};
}

constexpr std::string_view kCastAttributes[] = {"dtype"};
constexpr auto kOfNumbers = Unary<ExpectNumbers>;
constexpr auto kOfFractions = Unary<ExpectFractions>;
constexpr auto kOfTwo = Binary<Anything>;
constexpr auto kOfTwoNumbers = Binary<ExpectNumbers>;
constexpr auto kOfTwoTruths = Binary<ExpectTruth>;

}  // namespace

constinit const Op neg{"aten::neg", kOfNumbers, {}, true};
constinit const Op abs{"aten::abs", kOfNumbers, {}, true};
constinit const Op relu{"aten::relu", kOfNumbers, {}, true};
constinit const Op exp{"aten::exp", kOfFractions, {}, true};
constinit const Op log{"aten::log", kOfFractions, {}, true};
constinit const Op log1p{"aten::log1p", kOfFractions, {}, true};
constinit const Op tanh{"aten::tanh", kOfFractions, {}, true};
constinit const Op sqrt{"aten::sqrt", kOfFractions, {}, true};
constinit const Op rsqrt{"aten::rsqrt", kOfFractions, {}, true};
constinit const Op sigmoid{"aten::sigmoid", kOfFractions, {}, true};
constinit const Op sin{"aten::sin", kOfFractions, {}, true};
constinit const Op cos{"aten::cos", kOfFractions, {}, true};
constinit const Op floor{"aten::floor", kOfFractions, {}, true};
constinit const Op round{"aten::round", kOfFractions, {}, true};
constinit const Op erf{"aten::erf", kOfFractions, {}, true};
constinit const Op logical_not{"aten::logical_not", Unary<ExpectTruth>, {}, true};
constinit const Op cast{"xla::cast", Cast, kCastAttributes, true};

constinit const Op add{"aten::add", kOfTwo, {}, true};
constinit const Op sub{"aten::sub", kOfTwoNumbers, {}, true};
constinit const Op mul{"aten::mul", kOfTwo, {}, true};
constinit const Op div{"aten::div", kOfTwoNumbers, {}, true};
constinit const Op pow{"aten::pow", kOfTwoNumbers, {}, true};
constinit const Op maximum{"aten::maximum", kOfTwo, {}, true};
constinit const Op minimum{"aten::minimum", kOfTwo, {}, true};
constinit const Op remainder{"aten::remainder", kOfTwoNumbers, {}, true};
constinit const Op eq{"aten::eq", Comparison, {}, true};
constinit const Op ne{"aten::ne", Comparison, {}, true};
constinit const Op lt{"aten::lt", Comparison, {}, true};
constinit const Op le{"aten::le", Comparison, {}, true};
constinit const Op gt{"aten::gt", Comparison, {}, true};
constinit const Op ge{"aten::ge", Comparison, {}, true};
constinit const Op logical_and{"aten::logical_and", kOfTwoTruths, {}, true};
constinit const Op logical_or{"aten::logical_or", kOfTwoTruths, {}, true};

constinit const Op where{"aten::where", Choice, {}, true};

}  // namespace xlaprof::lazy::op
