#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {

void ExpectOperands(Shapes operands, size_t count) {
  if (operands.size() != count) Raise("takes {} operands, not {}", count, operands.size());
}

void ExpectAttributes(const Attributes& attributes, size_t count, bool more) {
  if (more ? attributes.size() < count : attributes.size() != count)
    Raise("takes {}{} attributes, not {}", more ? "at least " : "", count, attributes.size());
}

void ExpectRank(const Shape& shape, int64_t rank) {
  if (shape.rank() != rank)
    Raise("{} has {} dimensions, not {}", shape.ToText(), shape.rank(), rank);
}

void ExpectSameType(const Shape& a, const Shape& b) {
  if (a.dtype != b.dtype) Raise("types differ: {} and {}", XlaName(a.dtype), XlaName(b.dtype));
}

void ExpectSameSizes(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) Raise("numbers of dimensions differ: {} and {}", a.rank(), b.rank());
  const auto [in_a, in_b] = std::ranges::mismatch(a.dims, b.dims);
  if (in_a != a.dims.end())
    Raise("sizes of dimension {} differ: {} and {}", in_a - a.dims.begin(), *in_a, *in_b);
}

void ExpectSame(const Shape& a, const Shape& b) {
  ExpectSameType(a, b);
  ExpectSameSizes(a, b);
}

void ExpectNumbers(const Shape& shape) {
  if (shape.dtype == DType::kBool) Raise("needs numbers, not pred");
}

void ExpectFractions(const Shape& shape) {
  if (!IsFloat(shape.dtype)) Raise("needs floating-point numbers, not {}", XlaName(shape.dtype));
}

void ExpectTruth(const Shape& shape) {
  if (shape.dtype != DType::kBool) Raise("needs pred, not {}", XlaName(shape.dtype));
}

void ExpectIndex(const Shape& shape) {
  if (shape.dtype != DType::kI32 && shape.dtype != DType::kI64)
    Raise("an index must be s32 or s64, not {}", XlaName(shape.dtype));
}

size_t ExpectDimension(const Shape& shape, int64_t dim) {
  if (dim < 0 || dim >= shape.rank()) Raise("{} has no dimension {}", shape.ToText(), dim);
  return size_t(dim);
}

Dims ExpectAscending(const Shape& shape, const Attributes& attributes, size_t first) {
  Dims dims;
  for (size_t i = first; i < attributes.size(); ++i) {
    ExpectDimension(shape, attributes[i]);
    if (i > first && attributes[i] <= attributes[i - 1])
      Raise("dimensions are not in ascending order: {} after {}", attributes[i], attributes[i - 1]);
    dims.push_back(attributes[i]);
  }
  return dims;
}

Dims ExpectSizes(const Attributes& attributes, size_t first) {
  Dims dims;
  for (size_t i = first; i < attributes.size(); ++i) {
    if (attributes[i] < 0) Raise("size of dimension {} is {}", i - first, attributes[i]);
    dims.push_back(attributes[i]);
  }
  if (!MayBeHeld(dims)) Raise("more elements than memory can hold");
  return dims;
}

DType ExpectDType(int64_t attribute) {
  if (attribute < 0 || attribute > int64_t(DType::kF64)) Raise("type {} does not exist", attribute);
  return DType(attribute);
}

double NoFlops(Shapes, const Shape&, const Attributes&) { return 0; }

}  // namespace xlaprof::lazy::op
