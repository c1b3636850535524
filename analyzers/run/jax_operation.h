// Recognises programs that JAX makes of one operation, because an operation that is called outside
// of jit is compiled alone. The compile time of such a program depends on the machine, not on the
// user's program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// A few calls of jitted functions, as JAX names their events: PjitFunction(step).
struct JaxCalls {
  std::vector<std::string> names;

  static absl::StatusOr<JaxCalls> Of(const Run& run);
};

// Returns the operation in the name of a module or function: convert_element_type for
// `jit_convert_element_type` (also `jit(…)`, `jit__…`, and until 2022 `primitive_computation_…`).
// Returns "" for every other name. A function of the user's with an operation's name is taken for
// the operation, so callers must not claim more than that the name is one.
std::string JaxOperationOf(std::string_view program);

// Returns whether the name is that of a primitive whose program holds a function of the user's: the
// body of a loop, or the branches of a condition.
bool IsJaxLoop(std::string_view program);

// Returns whether the program is the one with which JAX moves an array to another sharding.
bool IsJaxResharding(std::string_view program);

// Returns the name of an operation that readers know: device_put for JAX's _identity_fn.
std::string NameForReaders(const std::string& program);

// Returns whether the operation has as many inputs as its caller gives it.
bool HasManyInputs(std::string_view program);

// Returns whether the name is that of an operation that users also give to their functions, such as
// add.
bool IsShortJaxOperation(std::string_view program);

}  // namespace xlaprof
