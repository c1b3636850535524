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

// Whether the name is that of an operation, but also a word that people call functions by: add.
bool IsShortJaxOperation(std::string_view program);

// Why it is not its size, for a reason's text.
std::string OneOperationText(std::string_view operation);

inline constexpr const char* kOneOperationAdvice =
    "Look at what the first use of the device waits for: the driver's start (time nvidia-smi; "
    "persistence mode), kernels that are compiled for a GPU newer than the library (set "
    "CUDA_CACHE_PATH and a large CUDA_CACHE_MAXSIZE, or install a jaxlib for it), a host without "
    "free cores or memory, or a debug build of XLA.";

}  // namespace xlaprof
