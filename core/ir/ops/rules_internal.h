// Checks operands for the shape rules of several families. Each Expect function raises an Error
// that says what does not fit.
#pragma once

#include "core/ir/error.h"
#include "core/ir/op.h"

namespace xlaprof::lazy::op {

using Shapes = std::span<const Shape* const>;

void ExpectOperands(Shapes operands, size_t count);
// Checks that there are `count` attributes, or at least `count` if `more`.
void ExpectAttributes(const Attributes& attributes, size_t count, bool more = false);
void ExpectRank(const Shape& shape, int64_t rank);
void ExpectSameType(const Shape& a, const Shape& b);
void ExpectSameSizes(const Shape& a, const Shape& b);
void ExpectSame(const Shape& a, const Shape& b);
void ExpectNumbers(const Shape& shape);    // rejects bool
void ExpectFractions(const Shape& shape);  // accepts floats
void ExpectTruth(const Shape& shape);      // accepts bool
void ExpectIndex(const Shape& shape);      // accepts s32 and s64
size_t ExpectDimension(const Shape& shape, int64_t dim);
// Returns `attributes` from `first` on, as dimensions of `shape` in ascending order.
Dims ExpectAscending(const Shape& shape, const Attributes& attributes, size_t first);
// Returns attributes from `first` on as sizes, none of them negative.
Dims ExpectSizes(const Attributes& attributes, size_t first);
DType ExpectDType(int64_t attribute);

// Returns 0, for Op::flops of operations that only move data.
double NoFlops(Shapes operands, const Shape& result, const Attributes& attributes);

}  // namespace xlaprof::lazy::op
