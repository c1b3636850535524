// Reads XLA's number of a program: a count on CPU and GPU, a fingerprint on TPU. Profiles print it
// unsigned in names and keep it signed in statistics; here it is 64 bits, taken as signed.
#pragma once

#include <string_view>

#include "profiler/store/rows.h"

namespace xlaprof {

// Returns N of "jit_f(N)", or nothing if there is none.
OptInt ProgramIdOf(std::string_view name);

}  // namespace xlaprof
