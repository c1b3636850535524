#pragma once

#include "profiler/store/sqlite.h"

namespace xlaprof {

// Opens a read-only database in memory that has the tables of schema.sql, without rows. The build
// makes it (scripts/schema), because SQLite takes ten times as long to execute schema.sql as to
// read the tables. The caller closes it.
sqlite3* OpenEmptySchema();

}  // namespace xlaprof
