// Whether a file that was opened is one of our stores, and what earlier versions lack of it.
#pragma once

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// What we read must be there, and be what it seems. InvalidArgument: it is not.
absl::Status CheckSchema(const Store& store);

// Makes what an earlier version had no table for, empty: in the file where it may be written to,
// else beside it.
absl::Status AddMissingTables(Store& store, bool is_writable);

}  // namespace xlaprof
