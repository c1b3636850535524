// Places the tensors of a program in memory. Tensors needed at different times share memory.
#pragma once

#include <vector>

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// A tensor that one thunk writes and later ones read.
struct Temporary {
  int32_t slot;
  int64_t bytes;
  int32_t first, last;  // indices of thunks
  int64_t offset = 0;   // in the shared memory, set by PlanTemporaries
};

// Finds the offsets, each a multiple of 64, and returns the total number of bytes. If a thunk reads
// a temporary for the last time, one of equal size that it writes may take the place, if the thunk
// allows it. Thunk::Reuse is called then.
int64_t PlanTemporaries(std::span<const std::unique_ptr<Thunk>> thunks,
                        std::vector<Temporary>* temporaries);

}  // namespace xlaprof::lazy
