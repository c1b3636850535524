// Programs that JAX makes of one operation: what is called outside of jit is compiled alone. How
// long such a program takes to compile tells of the machine, not of the program.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof {

// The operation, of the name of a module or function: convert_element_type of
// `jit_convert_element_type` (also `jit(…)`, `jit__…`, and until 2022
// `primitive_computation_…`). "" for every other name. A function of the user's that has an
// operation's name is taken for it, so say no more than that the name is one.
std::string JaxOperationOf(std::string_view program);

// Returns whether the name is that of an operation that users also give to their functions, such as
// add.
bool IsShortJaxOperation(std::string_view program);

}  // namespace xlaprof
