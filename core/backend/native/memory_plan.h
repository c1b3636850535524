// Where the tensors of a program are: what is needed at different times shares memory.
#pragma once

#include <vector>

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// A tensor that one thunk writes and later ones read.
struct Temporary {
  int32_t slot;
  int64_t bytes;
  int32_t first, last;  // thunks, by number
  int64_t offset = 0;   // in the memory that all share; found by Plan
};

// Finds offsets, a multiple of 64 each. A temporary whose bytes are as many as those of one that is
// read for the last time when it is written takes its place, if the thunk may do so, and tells the
// thunk. Returns the bytes of all.
int64_t PlanTemporaries(std::span<const std::unique_ptr<Thunk>> thunks,
                        std::vector<Temporary>* temporaries);

}  // namespace xlaprof::lazy
