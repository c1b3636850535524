// Counts operations that run on the CPU because devices have no lowering for them.
#pragma once

#include <string_view>

namespace xlaprof::lazy {

// Counts and announces an operation, by torch_xla's name for it, at the line of the outermost call.
void CountFallback(std::string_view op);

}  // namespace xlaprof::lazy
