// Type and sizes of a tensor. The visible layout is always row-major and dense, {n-1,...,0}.
#pragma once

#include <absl/container/inlined_vector.h>

#include <string>

#include "core/ir/dtype.h"

namespace xlaprof::lazy {

using Dims = absl::InlinedVector<int64_t, 4>;

struct Shape {
  DType dtype = DType::kF32;
  Dims dims;
  bool operator==(const Shape&) const = default;

  int64_t rank() const { return int64_t(dims.size()); }
  int64_t elements() const {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    return count;
  }
  int64_t bytes() const { return elements() * ByteSize(dtype); }
  std::string ToText() const;       // f32[16,8]
  std::string ToXlaText() const;    // f32[16,8]{1,0}
  std::string ToStableHlo() const;  // tensor<16x8xf32>
};

// Returns false if there are more elements than any memory can hold, whose count could overflow.
bool MayBeHeld(const Dims& dims);
// Returns the distance in elements between neighbours of each dimension.
Dims RowMajorStrides(const Dims& dims);
// Returns sizes as PyTorch prints them: "[16, 8]".
std::string SizesText(const Dims& dims);

}  // namespace xlaprof::lazy
