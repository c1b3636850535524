// Virtual tables over the chunks: event, arg, flow, counter_sample. docs/schema.md lists their columns.
#pragma once

#include "core/base/status.h"
#include "profiler/store/sqlite.h"

namespace xlaprof {

// Registers the virtual tables (eponymous) with a connection. `event`, `arg` and `counter_sample` accept INSERT in a
// store that is open for writing: rows are buffered and encoded at COMMIT.
absl::Status RegisterVirtualTables(sqlite3* db);

}  // namespace xlaprof
