// Type and sizes of a tensor. Row-major and dense: the layout {n-1,...,0}; nothing else can be
// seen.
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

// False for more elements than any memory has, of which a product would overflow.
bool MayBeHeld(const Dims& dims);
// Elements from one step of each dimension to the next.
Dims RowMajorStrides(const Dims& dims);
// "[16, 8]", as PyTorch prints sizes.
std::string SizesText(const Dims& dims);

}  // namespace xlaprof::lazy
