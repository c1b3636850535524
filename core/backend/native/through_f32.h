// Operations on 16-bit floats by a kernel for f32.
#pragma once

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// `make`'s thunk, its operands and result converted around it.
ThunkOr MakeThroughF32(const Task& task, ThunkOr (*make)(const Task&));

}  // namespace xlaprof::lazy
