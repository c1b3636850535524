// Internal to profiler/record.
#pragma once

#include <string_view>

namespace xlaprof::record {

// Starts or stops observing this process's lazy runtime.
void ObserveRuntime(bool on);
// Sends the calling thread's events to the track of a device, such as CPU:0, until LeaveDevice().
// Only one thread at a time may do so for each device.
void EnterDevice(std::string_view device);
void LeaveDevice();

}  // namespace xlaprof::record
