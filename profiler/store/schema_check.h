// Whether a file that was opened is a store as this version writes it.
#pragma once

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Returns InvalidArgument, with what to do, unless `store` has each of our tables, as a plain table
// with exactly our columns. Other tables may lie beside them.
absl::Status CheckSchema(const Store& store);

}  // namespace xlaprof
