// Runs operations on 16-bit floats with kernels for f32.
#pragma once

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// Makes a thunk by `make`, and converts its operands and results.
ThunkOr MakeThroughF32(const Task& task, ThunkOr (*make)(const Task&));

}  // namespace xlaprof::lazy
