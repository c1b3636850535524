// Finds the call of a jitted function in the stack of one of its instructions.
#pragma once

#include <span>
#include <string_view>

#include "profiler/store/store.h"

namespace xlaprof {

// Returns the user's frame around the outermost frame that runs the function of `module`. JAX names
// a module jit_NAME, with _ for anything but a letter or digit; a stack says outer.<locals>.NAME.
// `stack` has the innermost frame first. The result has no file if the stack does not show the
// call.
Store::Frame CallSite(std::span<const Store::Frame> stack, std::string_view module);

// Returns "train_step" for "jit_train_step" and "jit(train_step)", and other names unchanged.
std::string_view FunctionOfModule(std::string_view module);

}  // namespace xlaprof
