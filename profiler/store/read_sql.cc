#include "profiler/store/read_sql.h"

#include <algorithm>
#include <cstring>

namespace xlaprof {
namespace {

// The requests that SQLite's authorizer saw while a statement was prepared.
struct Wishes {
  bool writes_temp = false;
  bool refused = false;
};

// Allows statements to read, and to write temporary tables. `where` is the database of the action.
int Authorize(void* context, int action, const char* first, const char* /*second*/,
              const char* where, const char* /*trigger*/) {
  auto& wishes = *static_cast<Wishes*>(context);
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
    case SQLITE_PRAGMA:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ANALYZE:
      return SQLITE_OK;
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_TRIGGER:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_TRIGGER:
    case SQLITE_DROP_TEMP_VIEW:
      wishes.writes_temp = true;
      return SQLITE_OK;
    case SQLITE_ALTER_TABLE:  // `first` is the database
      if (first != nullptr && std::strcmp(first, "temp") == 0) {
        wishes.writes_temp = true;
        return SQLITE_OK;
      }
      break;
    case SQLITE_UPDATE:  // declaring a virtual table does this; a real update is not read-only
      if (first != nullptr && std::strcmp(first, "sqlite_master") == 0) return SQLITE_OK;
      [[fallthrough]];
    default:
      if (where != nullptr && std::strcmp(where, "temp") == 0) {
        wishes.writes_temp = true;
        return SQLITE_OK;
      }
  }
  wishes.refused = true;
  return SQLITE_DENY;
}

// Returns the line of `sql` with byte `offset`, and a caret under that byte.
std::string PointAt(std::string_view sql, size_t offset) {
  offset = std::min(offset, sql.size());
  size_t begin = offset == 0 ? 0 : sql.rfind('\n', offset - 1);
  begin = begin == std::string_view::npos ? 0 : sql[begin] == '\n' ? begin + 1 : begin;
  size_t end = std::min(sql.find('\n', offset), sql.size());
  std::string line(sql.substr(begin, end - begin));
  std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  auto before = sql.substr(begin, offset - begin);
  auto column = std::count_if(before.begin(), before.end(),
                              [](unsigned char c) { return (c & 0xc0) != 0x80; });
  return fmt::format("\n  {}\n  {:>{}}", line, '^', column + 1);
}

absl::Status SqlError(sqlite3* db, std::string_view sql, const char* statement) {
  const int code = sqlite3_errcode(db);
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return SqliteError(db, "query");
  std::string message = sqlite3_errmsg(db);
  int offset = sqlite3_error_offset(db);
  std::string where =
      offset < 0 ? "" : PointAt(sql, size_t(statement - sql.data()) + size_t(offset));
  std::string hint;
  if (message.starts_with("no such table")) {
    hint =
        "\nTables: event, arg, flow, counter_sample, and those of SELECT name FROM sqlite_schema. "
        "Views: findings, steps, compiles_by_site, and others of SELECT name FROM "
        "sqlite_temp_schema";
  }
  return Invalid("{}{}{}", message, where, hint);
}

absl::Status Refusal(std::string_view sql, const char* statement) {
  size_t offset = size_t(statement - sql.data());
  while (offset < sql.size() && std::strchr(" \t\r\n", sql[offset]) != nullptr) ++offset;
  return Invalid("query only reads: tables can be written only where they are TEMP{}",
                 PointAt(sql, offset));
}

}  // namespace

absl::Status ReadSql(const Store& store, const std::string& sql, SqlResults& results,
                     bool* has_results) {
  Wishes wishes;
  sqlite3* db = store.db();
  sqlite3_set_authorizer(db, Authorize, &wishes);
  struct Unset {
    sqlite3* db;
    ~Unset() { sqlite3_set_authorizer(db, nullptr, nullptr); }
  } unset{db};
  const char* next = sql.c_str();
  while (*next != '\0') {
    wishes = {};
    const char* statement = next;
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db, statement, -1, &raw, &next) != SQLITE_OK) {
      return wishes.refused ? Refusal(sql, statement) : SqlError(db, sql, statement);
    }
    if (raw == nullptr) continue;  // a comment, or blank
    Statement prepared(raw);
    if (!sqlite3_stmt_readonly(raw) && !wishes.writes_temp) return Refusal(sql, statement);
    const bool is_result = sqlite3_column_count(raw) > 0;
    int rc = sqlite3_step(raw);
    if (is_result && (rc == SQLITE_ROW || rc == SQLITE_DONE)) {
      *has_results = true;
      results.Begin(raw);
      for (; rc == SQLITE_ROW; rc = sqlite3_step(raw)) {
        if (!results.Row(raw)) return absl::OkStatus();
      }
      results.End();
    }
    if (rc != SQLITE_DONE)
      return wishes.refused ? Refusal(sql, statement) : SqlError(db, sql, statement);
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
