// Runs operations on short types with kernels for the types that these are computed as.
#pragma once

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// Makes a thunk by `make`, and converts its operands and results.
ThunkOr MakeWidened(const Task& task, ThunkOr (*make)(const Task&));

}  // namespace xlaprof::lazy
