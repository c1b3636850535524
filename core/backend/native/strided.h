// Describes tensors that are read or written in another order than that of their memory.
#pragma once

#include "core/graph/program.h"

namespace xlaprof::lazy {

// Element (i, j, ...) is at offset + i * strides[0] + j * strides[1] ..., in units of elements.
struct Strided {
  Dims dims, strides;
  int64_t offset = 0;

  int64_t elements() const {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    return count;
  }
  // Returns a tensor in row-major order.
  static Strided Of(const Shape& shape);
};

// Returns the layout of the result of expand, permute, slice or flip in its operand's memory.
Strided ViewOf(const Instruction& instruction, const Shape& operand);
// Returns the place of slice's result in its operand, or of slice_scatter's second operand in its
// result.
Strided SliceOf(const Attributes& attributes, const Shape& whole);

// Reduces the number of dimensions to a minimum, at least one. Removes dimensions of size 1, and
// joins two where one step of the outer equals a whole pass of the inner.
void Simplify(Strided* strided);
// Joins dimensions of two tensors that are walked together.
void Simplify(Strided* a, Strided* b);

class ThreadPool;

// Copies element by element. Both sides have equal sizes.
class StridedCopy {
 public:
  StridedCopy(Strided from, Strided to, int64_t element_bytes);
  void Run(const char* from, char* to, ThreadPool& pool) const;

 private:
  void Slab(const char* from, char* to, size_t dim) const;

  Strided from_, to_;
  int64_t bytes_;
};

}  // namespace xlaprof::lazy
