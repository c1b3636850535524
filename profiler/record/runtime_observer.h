// Internal to profiler/record.
#pragma once

#include <string_view>

namespace xlaprof::record {

// Listens to the lazy runtime of this process, or ceases to.
void ObserveRuntime(bool on);
// The calling thread's track is that of a device, such as CPU:0, from its first event on.
void NameDeviceThread(std::string_view device);

}  // namespace xlaprof::record
