// Runs the user's SQL on a store, which is only read.
#pragma once

#include <string>

#include "profiler/store/store.h"

namespace xlaprof {

// Takes the results of statements, one after the other.
class SqlResults {
 public:
  virtual ~SqlResults() = default;
  // Begins a result. `stmt` is at its first row if there is one, and has at least one column.
  virtual void Begin(sqlite3_stmt* stmt) = 0;
  // Takes the current row of `stmt`. Returns whether it takes more rows; if not, ReadSql ends.
  virtual bool Row(sqlite3_stmt* stmt) = 0;
  virtual void End() = 0;
};

// Runs all statements of `sql`. Only temporary tables and views may be written. Sets `has_results`
// when a result begins. Returns InvalidArgument, with the place in `sql`, if a statement is wrong or
// writes, and DataLoss if the store is damaged; the rows before that were taken.
absl::Status ReadSql(const Store& store, const std::string& sql, SqlResults& results,
                     bool* has_results);

}  // namespace xlaprof
