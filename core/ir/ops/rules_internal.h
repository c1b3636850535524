// What the shape rules of several families ask of their operands. Each Expect raises an Error that
// says what does not fit.
#pragma once

#include "core/ir/error.h"
#include "core/ir/op.h"

namespace xlaprof::lazy::op {

using Shapes = std::span<const Shape* const>;

void ExpectOperands(Shapes operands, size_t count);
// What an attribute list must hold at least; a list of fixed length ends there.
void ExpectAttributes(const Attributes& attributes, size_t count, bool more = false);
void ExpectRank(const Shape& shape, int64_t rank);
void ExpectSameType(const Shape& a, const Shape& b);
void ExpectSameSizes(const Shape& a, const Shape& b);
void ExpectSame(const Shape& a, const Shape& b);
void ExpectNumbers(const Shape& shape);    // not bool
void ExpectFractions(const Shape& shape);  // floats
void ExpectTruth(const Shape& shape);      // bool
void ExpectIndex(const Shape& shape);      // s32 or s64
size_t ExpectDimension(const Shape& shape, int64_t dim);
// `attributes` from `first` on, as dimensions of `shape` in ascending order.
Dims ExpectAscending(const Shape& shape, const Attributes& attributes, size_t first);
// Attributes from `first` on as sizes, none below 0.
Dims ExpectSizes(const Attributes& attributes, size_t first);
DType ExpectDType(int64_t attribute);

// Op::flops of operations that only move data.
double NoFlops(Shapes operands, const Shape& result, const Attributes& attributes);

}  // namespace xlaprof::lazy::op
