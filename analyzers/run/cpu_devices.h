// Finds the devices of ops on host threads. A CPU's client runs its programs on threads that belong
// to no device, and each op names its device by a number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/store/events.h"

namespace xlaprof {

// Returns the number of the device on which each event of a host thread's batch ran; 0 if the event
// does not say.
absl::StatusOr<std::vector<int64_t>> CpuOrdinals(const Store& store, const EventBatch& batch);

// Returns the name of a CPU's device, CPU:0.
std::string CpuDevice(int64_t ordinal);

}  // namespace xlaprof
