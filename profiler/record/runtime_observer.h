// Internal to profiler/record.
#pragma once

#include <string_view>

namespace xlaprof::record {

// Listens to the lazy runtime of this process, or ceases to.
void ObserveRuntime(bool on);
// The calling thread's events go to the track of a device, such as CPU:0, until LeaveDevice(). One
// thread at a time for each device.
void EnterDevice(std::string_view device);
void LeaveDevice();

}  // namespace xlaprof::record
