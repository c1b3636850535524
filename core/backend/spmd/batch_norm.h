// Batch norm of a batch that is divided among devices.
#pragma once

#include "core/backend/spmd/divide.h"

namespace xlaprof::lazy {

// Returns whether a program normalizes images that are divided in another dimension than the
// channels, so that no device could make the statistics alone.
bool HasDividedBatchNorm(const Program& program, const DividedProgram& divided);

// Returns the program with these operations replaced by sums and elementwise operations, which can
// be divided along all dimensions.
Program WithoutDividedBatchNorm(const Program& program, const DividedProgram& divided);

}  // namespace xlaprof::lazy
