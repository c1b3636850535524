// The loadable extension xlaprof_sqlite: virtual tables in the sqlite3 shell, Python's sqlite3 and
// other programs.
//   .load build/dev/xlaprof_sqlite
//   SELECT name, count(*) FROM event GROUP BY name;
// It is compiled with XLAPROF_SQLITE_EXTENSION, so every call goes to the SQLite that loads it, and
// no SQLite is linked.
#include "profiler/store/sqlite.h"
#include "profiler/store/virtual_tables.h"

SQLITE_EXTENSION_INIT1

// SQLite derives this name from the name of the file, of which it uses only the letters.
extern "C" __attribute__((visibility("default"))) int sqlite3_xlaprofsqlite_init(
    sqlite3* db, char** error, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  constexpr int kOldest = 3038000;  // sqlite3_error_offset and 64-bit change counts
  if (sqlite3_libversion_number() < kOldest) {
    *error = sqlite3_mprintf("xlaprof_sqlite needs SQLite 3.38 or newer, but this is %s",
                             sqlite3_libversion());
    return SQLITE_ERROR;
  }
  absl::Status status = xlaprof::RegisterVirtualTables(db);
  if (status.ok()) return SQLITE_OK;
  std::string message(xlaprof::Message(status));
  *error = sqlite3_mprintf("%s", message.c_str());
  return SQLITE_ERROR;
}
