// The SQL that an SQLite export adds to the tables of a store: exporters/sqlite/sqlite_tables.sql.
#pragma once

#include <string_view>

namespace xlaprof {

extern const char* const kSqliteTablesSql;

// Returns the part that creates views, one CREATE VIEW for each.
inline std::string_view SqliteViewsSql() {
  const std::string_view sql = kSqliteTablesSql;
  return sql.substr(sql.find("--- the views"));
}

}  // namespace xlaprof
