// Who called a jitted function, as the stack of one of its instructions tells.
#pragma once

#include <span>
#include <string_view>

#include "profiler/store/store.h"

namespace xlaprof {

// The user's frame around the outermost frame that runs the function of `module` (JAX names a
// module jit_NAME, with _ for what is no letter or digit; a stack says outer.<locals>.NAME).
// `stack`: innermost frame first. No file when the stack does not show it.
Store::Frame CallSite(std::span<const Store::Frame> stack, std::string_view module);

// "train_step" of "jit_train_step" and "jit(train_step)"; the module's own name else.
std::string_view FunctionOfModule(std::string_view module);

}  // namespace xlaprof
