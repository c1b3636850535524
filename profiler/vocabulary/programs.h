// Tells which framework made a program, by the program's name.
#pragma once

#include <string_view>

#include "profiler/store/vocabulary.h"

namespace xlaprof {

// Returns the framework whose programs, or whose calls of programs, have names like this, or kUnknown.
Framework FrameworkOfProgram(std::string_view name);

}  // namespace xlaprof
