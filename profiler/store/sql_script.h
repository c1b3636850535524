// Runs an SQL script on a store; tests write captures this way.
#pragma once

#include <string_view>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Runs the statements of `sql`, such as the rows of a case in tests/golden, on a store in one
// transaction, so `sql` may hold no BEGIN and no COMMIT. The virtual tables accept INSERT
// (docs/schema.md says how events get ids). If a statement fails, returns InvalidArgument with its
// line, such as "line 7: no such column: durr_ns", and the store is as it was before. A temporary
// store has no journal, so it must be thrown away then.
absl::Status RunSqlScript(Store& store, std::string_view sql);

}  // namespace xlaprof
