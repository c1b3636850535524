// Recognises operations in which devices communicate, by the names that XLA, JAX and the libraries
// for GPUs give them.
#pragma once

#include <string_view>

namespace xlaprof {

// Returns whether `name` is the name of a collective operation or of its kernel: all-reduce-start.3,
// psum.5, ncclDevKernel_AllReduce_Sum_f32_RING_LL.
bool IsCollectiveOp(std::string_view name);

}  // namespace xlaprof
