#include "profiler/store/sql_script.h"

#include <algorithm>

namespace xlaprof {
namespace {

int64_t LineOf(std::string_view sql, size_t offset) {
  return 1 + std::count(sql.begin(), sql.begin() + int64_t(std::min(offset, sql.size())), '\n');
}

// Returns the offset of the first text from `at` on that is not a blank, a semicolon or a comment.
size_t SkipBlank(std::string_view sql, size_t at) {
  while (at < sql.size()) {
    if (std::string_view(" \t\r\n;").find(sql[at]) != std::string_view::npos) {
      ++at;
    } else if (sql.substr(at).starts_with("--")) {
      at = std::min(sql.find('\n', at), sql.size());
    } else if (sql.substr(at).starts_with("/*")) {
      size_t end = sql.find("*/", at + 2);
      at = end == std::string_view::npos ? sql.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

absl::Status RunAll(Store& store, std::string_view sql) {
  sqlite3* db = store.db();
  for (size_t at = SkipBlank(sql, 0); at < sql.size(); at = SkipBlank(sql, at)) {
    sqlite3_stmt* raw = nullptr;
    const char* tail = nullptr;
    if (sqlite3_prepare_v2(db, sql.data() + at, int(sql.size() - at), &raw, &tail) != SQLITE_OK) {
      int offset = sqlite3_error_offset(db);
      return Invalid("line {}: {}", LineOf(sql, at + size_t(std::max(0, offset))),
                     sqlite3_errmsg(db));
    }
    if (raw == nullptr) break;
    Statement statement(raw);
    int rc;
    do rc = sqlite3_step(raw);
    while (rc == SQLITE_ROW);
    if (rc != SQLITE_DONE) return Invalid("line {}: {}", LineOf(sql, at), sqlite3_errmsg(db));
    at = size_t(tail - sql.data());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunSqlScript(Store& store, std::string_view sql) {
  XP_TRY(store.Begin());
  absl::Status status = RunAll(store, sql);
  if (status.ok()) status = store.Commit();
  if (!status.ok()) store.Rollback();
  return status;
}

}  // namespace xlaprof
