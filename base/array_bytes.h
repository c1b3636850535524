// Returns the sizes of arrays in programs.
#pragma once

#include <cstdint>
#include <string>

#include "base/xla_shape.h"

namespace xlaprof {

// Returns the size of an array; 0 for a tuple or an unknown element type.
int64_t ArrayBytes(const XlaShape& shape);
int64_t ArrayBytes(const std::string& shape);

}  // namespace xlaprof
