// A capture that people can read: SQL text that fills a store.
#pragma once

#include <string_view>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Runs the statements of `sql` (a capture.sql) on a store in one transaction of their own, so `sql`
// holds no BEGIN and no COMMIT. The virtual tables take INSERT (docs/schema.md says how events get
// ids). InvalidArgument that names the line of the statement at fault, as "line 7: no such column:
// durr_ns"; the store is then as it was before, unless it is temporary: that one has no journal, so
// throw it away.
absl::Status LoadSql(Store& store, std::string_view sql);

}  // namespace xlaprof
