// Virtual tables over the chunks: event, arg, flow, counter_sample. docs/schema.md lists their
// columns.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "profiler/store/sqlite.h"

namespace xlaprof {

// Registers the virtual tables (eponymous) with a connection. `event`, `arg` and `counter_sample`
// accept INSERT in a store that is open for writing: rows are buffered and encoded at COMMIT. Also
// registers the functions xlaprof_chunks_read() and xlaprof_chunks_damaged(). They return how many
// chunks the connection has decoded, and how many it left out because they are damaged. `interned`,
// if not null, grows when COMMIT interns text, so that a cache of strings knows that it lacks some.
absl::Status RegisterVirtualTables(sqlite3* db, std::shared_ptr<int64_t> interned = nullptr);

}  // namespace xlaprof
