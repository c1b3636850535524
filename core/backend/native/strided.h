// Tensors that are read or written in another order than they lie in memory.
#pragma once

#include "core/compile/program.h"

namespace xlaprof::lazy {

// Element (i, j, ...) is at offset + i * strides[0] + j * strides[1] ...; counted in elements.
struct Strided {
  Dims dims, strides;
  int64_t offset = 0;

  int64_t elements() const {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    return count;
  }
  // All in order.
  static Strided Of(const Shape& shape);
};

// How the result of an expand, permute, slice or flip lies in its operand's memory.
Strided ViewOf(const Instruction& instruction, const Shape& operand);
// Where slice's result is in its operand, or slice_scatter's second operand in its result.
Strided SliceOf(const Attributes& attributes, const Shape& whole);

// The same with as few dimensions as possible: those of size 1 gone, others joined where one step
// of the outer is a whole pass of the inner. Of none at least one is left.
void Simplify(Strided* strided);
// Joins dimensions of two that are walked together.
void Simplify(Strided* a, Strided* b);

class ThreadPool;

// Copies element for element; the sizes of both are equal.
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
