#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

// Returns the shape of a reduction. The attributes are {keepdim, dimensions}. `of_nothing` says
// whether an empty dimension may be reduced.
Shape Reduced(const Shape& from, const Attributes& attributes, bool of_nothing) {
  ExpectAttributes(attributes, 1, /*more=*/true);
  const Dims reduced = ExpectAscending(from, attributes, 1);
  Shape to{from.dtype, {}};
  size_t next = 0;
  for (size_t i = 0; i < from.dims.size(); ++i) {
    if (next == reduced.size() || reduced[next] != int64_t(i)) {
      to.dims.push_back(from.dims[i]);
      continue;
    }
    ++next;
    if (from.dims[i] == 0 && !of_nothing)
      Raise("dimension {} is empty, so it has no largest or smallest element", i);
    if (attributes[0] != 0) to.dims.push_back(1);
  }
  return to;
}

Shape Sum(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectNumbers(*operands[0]);
  return Reduced(*operands[0], attributes, true);
}

Shape Extreme(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  return Reduced(*operands[0], attributes, false);
}

Shape ArgMax(Shapes operands, const Attributes& attributes) {
  ExpectAttributes(attributes, 2);
  return {DType::kI64, Extreme(operands, attributes).dims};
}

Shape CumSum(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectAttributes(attributes, 1);
  ExpectNumbers(*operands[0]);
  ExpectDimension(*operands[0], attributes[0]);
  return *operands[0];
}

double OneAnElement(Shapes operands, const Shape&, const Attributes&) {
  return double(operands[0]->elements());
}

constexpr std::string_view kOfDims[] = {"keepdim", "dims..."}, kOfDim[] = {"keepdim", "dim"},
                           kAlong[] = {"dim"};

}  // namespace

constinit const Op sum{"aten::sum", Sum, kOfDims, false, OneAnElement};
constinit const Op prod{"aten::prod", Sum, kOfDims, false, OneAnElement};
constinit const Op amax{"aten::amax", Extreme, kOfDims, false, OneAnElement};
constinit const Op amin{"aten::amin", Extreme, kOfDims, false, OneAnElement};
constinit const Op argmax{"aten::argmax", ArgMax, kOfDim, false, OneAnElement};
constinit const Op cumsum{"aten::cumsum", CumSum, kAlong, false, OneAnElement};

}  // namespace xlaprof::lazy::op
