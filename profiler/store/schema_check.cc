#include "profiler/store/schema_check.h"

#include <algorithm>
#include <set>

#include "profiler/store/sqlite.h"

namespace xlaprof {

extern const char* const kSchemaSql;

namespace {

// The tables of a database and their columns, "table.column". A file from outside may call a view,
// a virtual table or a computed column what we take for a plain one, and so run SQL of its own,
// endlessly, wherever we read it: those stand as "table!".
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

// Tables that stores of earlier versions lack: a recording cannot be imported again.
constexpr std::string_view kAddedTables[] = {"untied_weight", "compile_alarm"};

// What CREATE TABLE says of `table` in our schema, from the table's name on.
std::string Definition(std::string_view table) {
  const std::string_view schema = kSchemaSql;
  const size_t begin = schema.find(fmt::format("\nCREATE TABLE {} (", table));
  XP_CHECK(begin != std::string_view::npos);
  const size_t name = schema.find(table, begin);
  return std::string(schema.substr(name, schema.find("\n)", begin) + 2 - name));
}

}  // namespace

absl::Status CheckSchema(const Store& store) {
  static const auto* ours = [] {
    sqlite3* memory = nullptr;
    XP_CHECK(sqlite3_open(":memory:", &memory) == SQLITE_OK);
    XP_CHECK(sqlite3_exec(memory, kSchemaSql, nullptr, nullptr, nullptr) == SQLITE_OK);
    auto columns = ColumnsOf(memory);
    XP_CHECK(columns.ok());
    sqlite3_close_v2(memory);
    return new std::set<std::string>(*std::move(columns));
  }();
  XP_TRY(std::set<std::string> theirs, ColumnsOf(store.db()));
  for (const std::string& column : *ours) {
    const std::string table = column.substr(0, column.find('.'));
    if (theirs.contains(table + "!")) {
      return Invalid(
          "{}: not written by xlaprof: its {} is no plain table. Import the sources again",
          store.path(), table);
    }
    const bool is_added = std::ranges::find(kAddedTables, table) != std::end(kAddedTables);
    // Columns of a table that was made beside the file are not looked for.
    if (is_added && theirs.lower_bound(table + ".") == theirs.lower_bound(table + "/")) continue;
    if (!theirs.contains(column)) {
      return Invalid("{}: not written by this xlaprof: it has no {}. Import the sources again",
                     store.path(), column);
    }
  }
  return absl::OkStatus();
}

absl::Status AddMissingTables(Store& store, bool is_writable) {
  XP_TRY(std::set<std::string> theirs, ColumnsOf(store.db()));
  for (std::string_view table : kAddedTables) {
    const std::string known(table);
    if (theirs.lower_bound(known + ".") != theirs.lower_bound(known + "/")) continue;
    if (theirs.contains(known + "!")) continue;  // CheckSchema refuses it
    XP_TRY(store.Exec(
        fmt::format("CREATE {} {}", is_writable ? "TABLE" : "TEMP TABLE", Definition(table))));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
