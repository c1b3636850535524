// Programs whose values are divided among devices at random.
#pragma once

#include <memory>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

// The grid of the tests: six devices in an order of their own.
Grid GridOfSix();

// Returns the program with shardings marked at random on parameters, operations and results. The
// same seed gives the same marks.
Program Marked(const Program& program, const Grid& grid, uint32_t seed);

// Makes a backend of six devices that divides the values of each program at random.
std::unique_ptr<Backend> MakeMarkingBackend();

}  // namespace xlaprof::lazy
