// Leads from events of the host to the devices that they belong to.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profiler/store/events.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Returns the number of the device on which each event of a host thread's batch ran; 0 if the event
// does not say. A CPU's client runs its programs on threads that belong to no device, and each op
// names its device by a number.
absl::StatusOr<std::vector<int64_t>> CpuOrdinals(const Store& store, const EventBatch& batch);

// Returns the name of a CPU's device, CPU:0.
std::string CpuDevice(int64_t ordinal);

// Returns the flows that lead from calls of the host to device ops whose name matches one of the patterns of GLOB. No event
// is read if no name matches.
absl::StatusOr<absl::flat_hash_set<uint64_t>> FlowsToOps(
    const Store& store, std::initializer_list<std::string_view> patterns);

}  // namespace xlaprof
