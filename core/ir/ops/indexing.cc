#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

// Raises an Error if a dimension is empty, because an index out of range needs a nearest valid one.
void ExpectSomewhere(const Shape& shape, size_t dim, const Shape& index) {
  if (shape.dims[dim] == 0 && index.elements() > 0)
    Raise("dimension {} is empty, so no index is in range", dim);
}

void ExpectInside(const Shape& inner, const Shape& outer, size_t except) {
  for (size_t i = 0; i < inner.dims.size(); ++i) {
    if (i != except && inner.dims[i] > outer.dims[i])
      Raise("size {} of the index's dimension {} is greater than {}", inner.dims[i], i,
            outer.dims[i]);
  }
}

Shape IndexSelect(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 2);
  ExpectAttributes(attributes, 1);
  const Shape& index = *operands[1];
  Shape to = *operands[0];
  ExpectIndex(index);
  ExpectRank(index, 1);
  const size_t dim = ExpectDimension(to, attributes[0]);
  ExpectSomewhere(to, dim, index);
  to.dims[dim] = index.dims[0];
  return to;
}

Shape Gather(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 2);
  ExpectAttributes(attributes, 1);
  const Shape &from = *operands[0], &index = *operands[1];
  ExpectIndex(index);
  ExpectRank(index, from.rank());
  const size_t dim = ExpectDimension(from, attributes[0]);
  ExpectInside(index, from, dim);
  ExpectSomewhere(from, dim, index);
  return {from.dtype, index.dims};
}

Shape Scatter(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 3);
  ExpectAttributes(attributes, 1);
  const Shape &into = *operands[0], &index = *operands[1], &from = *operands[2];
  ExpectIndex(index);
  ExpectSameType(into, from);
  ExpectRank(index, into.rank());
  ExpectRank(from, into.rank());
  const size_t dim = ExpectDimension(into, attributes[0]);
  ExpectInside(index, into, dim);
  ExpectInside(index, from, into.dims.size());
  ExpectSomewhere(into, dim, index);
  return into;
}

Shape ScatterAdd(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 3);
  ExpectNumbers(*operands[0]);
  return Scatter(operands, attributes);
}

Shape IndexCopy(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 3);
  ExpectAttributes(attributes, 1);
  const Shape &into = *operands[0], &index = *operands[1], &from = *operands[2];
  ExpectIndex(index);
  ExpectRank(index, 1);
  const size_t dim = ExpectDimension(into, attributes[0]);
  ExpectSomewhere(into, dim, index);
  Shape selected = into;
  selected.dims[dim] = index.dims[0];
  ExpectSame(selected, from);
  return into;
}

Shape IndexAdd(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 3);
  ExpectNumbers(*operands[0]);
  return IndexCopy(operands, attributes);
}

Shape Arange(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 0);
  ExpectAttributes(attributes, 4);
  if (attributes[2] < 0) Raise("size of dimension 0 is {}", attributes[2]);
  Shape to{ExpectDType(attributes[3]), {attributes[2]}};
  ExpectNumbers(to);
  return to;
}

double OneAnAddend(Shapes operands, const Shape&, const Attributes&) {
  return double(operands[2]->elements());
}

constexpr std::string_view kDim[] = {"dim"}, kArange[] = {"=start", "=step", "count", "dtype"};

}  // namespace

constinit const Op index_select{"aten::index_select", IndexSelect, kDim, false, NoFlops};
constinit const Op gather{"aten::gather", Gather, kDim, false, NoFlops};
constinit const Op scatter{"aten::scatter", Scatter, kDim, false, NoFlops};
constinit const Op scatter_add{"aten::scatter_add", ScatterAdd, kDim, false, OneAnAddend};
constinit const Op index_copy{"aten::index_copy", IndexCopy, kDim, false, NoFlops};
constinit const Op index_add{"aten::index_add", IndexAdd, kDim, false, OneAnAddend};
constinit const Op arange{"aten::arange", Arange, kArange, false, NoFlops};

}  // namespace xlaprof::lazy::op
