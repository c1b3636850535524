#include "profiler/store/empty_schema.h"

#include <string_view>

#include "base/status.h"

namespace xlaprof {

extern const std::string_view kSchemaImage;  // a database file

sqlite3* OpenEmptySchema() {
  sqlite3* db = nullptr;
  XP_CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
  const auto size = sqlite3_int64(kSchemaImage.size());
  auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(kSchemaImage.data()));
  XP_CHECK(sqlite3_deserialize(db, "main", bytes, size, size, SQLITE_DESERIALIZE_READONLY) ==
           SQLITE_OK);
  // SQLite then reads the pages where they are.
  XP_CHECK(sqlite3_exec(db, "PRAGMA mmap_size=1000000000", nullptr, nullptr, nullptr) == SQLITE_OK);
  return db;
}

}  // namespace xlaprof
