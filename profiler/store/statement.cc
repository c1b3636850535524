// Statements of SQLite, and its errors as Status.
#include <fmt/format.h>
#include <sys/resource.h>

#include "profiler/store/sqlite.h"
#include "profiler/store/store.h"
#include "profiler/store/store_internal.h"

namespace xlaprof {

static absl::Status DamagedError(std::string_view doing, std::string_view what) {
  return DataLoss("{}: the file is damaged ({}). `xlaprof report` reads its intact pages", doing,
                  what);
}

absl::Status SqliteError(sqlite3* db, std::string_view doing) {
  int rc = db == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db);
  const char* what = db == nullptr ? "out of memory" : sqlite3_errmsg(db);
  switch (rc & 0xff) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(
          fmt::format("{}: the disk is full. Free space, or write elsewhere", doing));
    case SQLITE_IOERR:
      // SQLite reports only that a write failed.
      if (rlimit limit{}; sqlite3_extended_errcode(db) == SQLITE_IOERR_WRITE &&
                          getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        return IoError(
            "{}: cannot write all of it. This process may not write files of more than {} bytes. Raise its limit (ulimit -f), or check the disk",
            doing, limit.rlim_cur);
      }
      return IoError(
          "{}: {} (SQLite code {}). Check the disk and its free space, or write elsewhere",
          doing, what, sqlite3_extended_errcode(db));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return IoError("{}: another process is writing this store. Wait for it, or work on a copy",
                     doing);
    case SQLITE_CORRUPT:
      return DamagedError(doing, what);
    case SQLITE_NOTADB:
      return Invalid(
          "{}: not a store (not an SQLite file). Import the files that it was made from. If it is a damaged store, run `xlaprof report` on it",
          doing);
    case SQLITE_READONLY:
      return absl::PermissionDeniedError(fmt::format("{}: cannot write there ({})", doing, what));
    case SQLITE_CANTOPEN:
      return IoError("{}: cannot open ({}). Check that the folder exists and can be written", doing,
                     what);
    default:
      // The format in the header is one that no SQLite ever wrote. A byte was flipped, for which
      // SQLite has no code of its own.
      if (std::string_view(what) == "unsupported file format") return DamagedError(doing, what);
      // A statement of our own found a file with other tables or columns.
      if (std::string_view(what).starts_with("no such ")) {
        return Invalid(
            "{}: {}: this version of xlaprof did not write this file. Import the sources again",
            doing, what);
      }
      return absl::InternalError(fmt::format("{}: {}", doing, what));
  }
}

Statement::~Statement() {
  if (stmt_ != nullptr) sqlite3_finalize(stmt_);
}

absl::StatusOr<bool> Statement::Step() {
  int rc = sqlite3_step(stmt_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  sqlite3* db = sqlite3_db_handle(stmt_);
  const char* file = sqlite3_db_filename(db, "main");
  return SqliteError(db, file == nullptr || *file == '\0' ? "store" : file);
}

void Statement::Reset() {
  sqlite3_reset(stmt_);
  sqlite3_clear_bindings(stmt_);
}

bool Statement::IsNull(int index) const { return sqlite3_column_type(stmt_, index) == SQLITE_NULL; }

namespace internal {
void BindInt(sqlite3_stmt* stmt, int index, int64_t value) {
  sqlite3_bind_int64(stmt, index, value);
}
void BindReal(sqlite3_stmt* stmt, int index, double value) {
  sqlite3_bind_double(stmt, index, value);
}
void BindText(sqlite3_stmt* stmt, int index, std::string_view value) {
  sqlite3_bind_text64(stmt, index, value.data() == nullptr ? "" : value.data(), value.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
}
void BindNull(sqlite3_stmt* stmt, int index) { sqlite3_bind_null(stmt, index); }
int64_t ColumnInt(sqlite3_stmt* stmt, int index) { return sqlite3_column_int64(stmt, index); }
double ColumnReal(sqlite3_stmt* stmt, int index) { return sqlite3_column_double(stmt, index); }
std::string_view ColumnText(sqlite3_stmt* stmt, int index) {
  auto* data = static_cast<const char*>(sqlite3_column_blob(stmt, index));
  return data == nullptr ? std::string_view()
                         : std::string_view(data, sqlite3_column_bytes(stmt, index));
}
}  // namespace internal

}  // namespace xlaprof
