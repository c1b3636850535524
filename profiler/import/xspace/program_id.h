// XLA's number of a program: counted on CPU and GPU, a fingerprint on TPU. Profiles print it
// unsigned in names and keep it signed in statistics; here it is 64 bits, taken as signed.
#pragma once

#include <string_view>

#include "profiler/store/rows.h"

namespace xlaprof {

// N of "jit_f(N)"; nothing without.
OptInt ProgramIdOf(std::string_view name);

}  // namespace xlaprof
