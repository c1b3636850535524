// The names that JAX gives to what it compiles.
#pragma once

#include <string_view>

namespace xlaprof {

// Returns the function that JAX compiled as this module: update for jit_update and for jit(update).
// Returns "" if JAX did not name the module.
std::string_view JaxFunctionOf(std::string_view module);

// Returns "f" for the event "PjitFunction(f)" or "PmapFunction(f)" of a profile, and "" for other names.
std::string_view JittedFunction(std::string_view event);

}  // namespace xlaprof
