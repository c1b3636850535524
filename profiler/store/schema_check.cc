#include "profiler/store/schema_check.h"

#include <set>
#include <string>

#include "profiler/store/empty_schema.h"

namespace xlaprof {

namespace {

// Returns the columns of the tables of a database as "table.column". A file from outside may give a
// name of ours to a view, a virtual table or a computed column, which would run SQL of its own,
// endlessly, wherever we read it. Such columns are returned as "table!".
absl::StatusOr<std::set<std::string>> ColumnsOf(sqlite3* db) {
  constexpr const char* kSql =
      "SELECT s.name || CASE WHEN s.type <> 'table' OR s.sql LIKE 'CREATE VIRTUAL%' OR c.hidden <> "
      "0 THEN '!' ELSE '.' || c.name END FROM main.sqlite_schema AS s, "
      "pragma_table_xinfo(s.name, 'main') AS c WHERE s.type IN ('table', 'view')";
  std::set<std::string> columns;
  sqlite3_stmt* stmt = nullptr;
  if (sqlite3_prepare_v2(db, kSql, -1, &stmt, nullptr) != SQLITE_OK)
    return SqliteError(db, "reading the schema");
  Statement statement(stmt);
  while (true) {
    XP_TRY(bool row, statement.Step());
    if (!row) return columns;
    columns.emplace(statement.Column<std::string_view>(0));
  }
}

std::string TableOf(const std::string& column) { return column.substr(0, column.find('.')); }

absl::Status OfAnotherVersion(const Store& store, const std::string& what) {
  return Invalid(
      "{}: another version of xlaprof wrote this store, which has {}. Import its sources again with this version, or record the program again",
      store.path(), what);
}

// Returns our tables' columns.
const std::set<std::string>& OurColumns() {
  static const auto* ours = [] {
    sqlite3* schema = OpenEmptySchema();
    auto columns = ColumnsOf(schema);
    XP_CHECK(columns.ok());
    sqlite3_close_v2(schema);
    return new std::set<std::string>(*std::move(columns));
  }();
  return *ours;
}

absl::Status CheckPlain(const Store& store, const std::set<std::string>& theirs) {
  for (const std::string& column : OurColumns()) {
    const std::string table = TableOf(column);
    if (theirs.contains(table + "!")) {
      return Invalid(
          "{}: xlaprof did not write this file, because its {} is not a plain table. Import the sources again",
          store.path(), table);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSchemaVersion(const std::string& path, int64_t version) {
  if (version > kSchemaVersion) {
    return Unsupported(
        "{}: its schema has version {}, but this xlaprof knows {} at most. Use a newer xlaprof",
        path, version, kSchemaVersion);
  }
  if (version > 0 && version < kSchemaVersion) {
    return Unsupported(
        "{}: its schema has version {}, so it was made by an unreleased build: import its sources again, or record again; `query` of the build that made it still reads it",
        path, version);
  }
  return absl::OkStatus();
}

absl::Status CheckSchema(const Store& store) {
  XP_TRY(std::set<std::string> theirs, ColumnsOf(store.db()));
  XP_TRY(CheckPlain(store, theirs));
  std::set<std::string> tables;  // names of our tables
  for (const std::string& column : OurColumns()) {
    tables.insert(TableOf(column));
    if (!theirs.contains(column)) return OfAnotherVersion(store, "no " + column);
  }
  for (const std::string& column : theirs) {
    if (tables.contains(TableOf(column)) && !OurColumns().contains(column))
      return OfAnotherVersion(store, "a column " + column);
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
