// Recognises calls of CUDA, HIP and Level Zero whose duration has a reason of its own.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlaprof {

enum class RuntimeCall : uint8_t {
  kOther,
  kAllocator,     // gets memory from the driver or returns it, which waits for the device
  kBeginCapture,  // from here on, launches are recorded in a CUDA graph instead of being run
  kEndCapture,
};

// Returns the kind of a call by the name that profilers give it, such as cudaFree or hipFree.
RuntimeCall RuntimeCallOf(std::string_view name);

}  // namespace xlaprof
