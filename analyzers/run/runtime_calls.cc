#include "analyzers/run/runtime_calls.h"

#include <algorithm>
#include <iterator>

namespace xlaprof {
namespace {

// Calls that get memory from the driver or return it, without the prefix of their API. Names may
// go on, as in cuMemAlloc_v2. Stream-ordered calls, such as cudaMallocAsync, are not among them.
constexpr std::string_view kAllocatorCalls[] = {
    "Free",     "FreeHost",    "FreeArray",         "Malloc",       "MallocHost",   "MallocManaged",
    "MemFree",  "MemAlloc",    "MemFreeHost",       "MemAllocHost", "MemHostAlloc", "HostAlloc",
    "MemMap",   "MemUnmap",    "MemCreate",         "MemRelease",   "MemSetAccess", "HostMalloc",
    "HostFree", "MallocPitch", "ExtMallocWithFlags"};

// Returns the call without the prefix of its API and without the version at its end.
std::string_view WithoutApi(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "hip", "cu", "ze"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return name.substr(0, name.find("_v"));
  }
  return {};
}

}  // namespace

RuntimeCall RuntimeCallOf(std::string_view name) {
  const std::string_view call = WithoutApi(name);
  if (call.empty()) return RuntimeCall::kOther;
  if (call == "StreamBeginCapture" || call == "StreamBeginCaptureToGraph")
    return RuntimeCall::kBeginCapture;
  if (call == "StreamEndCapture") return RuntimeCall::kEndCapture;
  return std::find(std::begin(kAllocatorCalls), std::end(kAllocatorCalls), call) !=
                 std::end(kAllocatorCalls)
             ? RuntimeCall::kAllocator
             : RuntimeCall::kOther;
}

}  // namespace xlaprof
