// The flows that lead from calls of the host to ops of devices.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "profiler/store/store.h"

namespace xlaprof {

// Returns the flows that lead to device ops whose name matches one of the patterns of GLOB. No event
// is read if no name matches.
absl::StatusOr<absl::flat_hash_set<uint64_t>> FlowsToOps(
    const Store& store, std::initializer_list<std::string_view> patterns);

}  // namespace xlaprof
