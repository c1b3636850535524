// Declares what reductions share, for core/trace only.
#pragma once

#include "core/trace/emit.h"

namespace xlaprof::lazy {

// Returns the given dimensions of `x`, ascending and counted from the first; all if none is given.
Dims ReducedDims(std::string_view op, const Tensor& x, Dims dims);
// Returns a reduced tensor with its dimensions back, each of size 1.
Tensor Kept(const Tensor& reduced, Dims sizes, const Dims& dims);
// Returns the number of elements that are reduced to one.
int64_t CountOf(const Tensor& x, const Dims& dims);
// Raises an Error unless `x` has floating-point numbers.
void ExpectFractions(std::string_view op, const Tensor& x);

}  // namespace xlaprof::lazy
