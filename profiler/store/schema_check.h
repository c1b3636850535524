// Checks whether a file that was opened is a store as this version writes it.
#pragma once

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Returns InvalidArgument, with what to do, if a table of ours is something else in `store`, such as
// a view, which would run SQL of its own. Columns and tables may be missing.
absl::Status CheckTablesArePlain(const Store& store);

// Returns InvalidArgument, with what to do, unless `store` has each of our tables as a plain table
// with exactly our columns. Other tables may be in the file too.
absl::Status CheckSchema(const Store& store);

}  // namespace xlaprof
