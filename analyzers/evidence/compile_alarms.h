// What XLA's own alarms (table compile_alarm) tell of slow compilations.
#pragma once

#include "analyzers/finding.h"
#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Findings of slow_compile: one for each module whose compilation rang an alarm, one for all
// constants that XLA computed meanwhile, one for all kernels that it tried. Where
// `compiles_are_timed`, compilations tell of themselves, and only those that have not ended here.
absl::StatusOr<Findings> FindCompileAlarms(const Store& store, bool compiles_are_timed);

}  // namespace xlaprof
