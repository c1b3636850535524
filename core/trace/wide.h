// Widens the 16-bit floats for computations whose intermediate results they cannot hold.
#pragma once

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

inline bool IsNarrow(DType type) { return type == DType::kBF16 || type == DType::kF16; }
// Returns `x`, or a copy in f32 if its type is bf16 or f16.
inline Tensor Wide(const Tensor& x, Where where = Where::current()) {
  return IsNarrow(x.dtype()) ? x.to(DType::kF32, where) : x;
}

}  // namespace xlaprof::lazy
