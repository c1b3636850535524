// The flows that lead from calls of the host to ops of devices.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <functional>
#include <string_view>

#include "profiler/store/store.h"

namespace xlaprof {

// Returns the flows that lead to device ops whose name `accepts` accepts. It is called once for each
// name.
absl::StatusOr<absl::flat_hash_set<uint64_t>> FlowsToOps(
    const Store& store, const std::function<bool(std::string_view)>& accepts);

}  // namespace xlaprof
