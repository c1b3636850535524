#include "profiler/store/chunk_rows.h"

#include <algorithm>

namespace xlaprof {

absl::Status Prepared::Prepare(sqlite3* db, const char* sql) {
  if (statement != nullptr) return absl::OkStatus();
  if (sqlite3_prepare_v2(db, sql, -1, &statement, nullptr) != SQLITE_OK)
    return SqliteError(db, "writing events");
  return absl::OkStatus();
}

absl::Status Prepared::Run() {
  const int rc = sqlite3_step(statement);
  absl::Status status = rc == SQLITE_DONE
                            ? absl::OkStatus()
                            : SqliteError(sqlite3_db_handle(statement), "writing events");
  sqlite3_reset(statement);
  return status;
}

absl::Status ChunkRows::FindNextEventId() {
  bool first = newest_chunk_.statement == nullptr;
  if (first) {
    sqlite3_stmt* all = nullptr;
    if (sqlite3_prepare_v2(db_, "SELECT max(first_event_id + count) FROM main.event_chunk", -1,
                           &all, nullptr) != SQLITE_OK) {
      return SqliteError(db_, "writing events");
    }
    bool row = sqlite3_step(all) == SQLITE_ROW;
    next_event_id_ = row ? std::max<int64_t>(1, sqlite3_column_int64(all, 0)) : 1;
    sqlite3_finalize(all);
    if (!row) return SqliteError(db_, "writing events");
  }
  XP_TRY(newest_chunk_.Prepare(
      db_, "SELECT first_event_id + count FROM main.event_chunk ORDER BY id DESC LIMIT 1"));
  int rc = sqlite3_step(newest_chunk_.statement);
  if (rc == SQLITE_ROW)
    next_event_id_ =
        std::max(next_event_id_, int64_t(sqlite3_column_int64(newest_chunk_.statement, 0)));
  absl::Status status =
      rc == SQLITE_ROW || rc == SQLITE_DONE ? absl::OkStatus() : SqliteError(db_, "writing events");
  sqlite3_reset(newest_chunk_.statement);
  return status;
}

absl::Status ChunkRows::Insert(const PackedChunk& chunk) {
  XP_TRY(FindNextEventId());
  XP_TRY(insert_events_.Prepare(
      db_,
      "INSERT INTO main.event_chunk (track_id, first_event_id, count, "
      "min_ts_ns, max_end_ns, max_dur_ns, columns) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  sqlite3_stmt* statement = insert_events_.statement;
  const EncodedEvents& encoded = chunk.events;
  const int64_t count = int64_t(chunk.count);
  const int64_t numbers[] = {chunk.track_id,    next_event_id_,     count,
                             encoded.min_ts_ns, encoded.max_end_ns, encoded.max_dur_ns};
  for (int i = 0; i < 6; ++i) sqlite3_bind_int64(statement, i + 1, numbers[i]);
  sqlite3_bind_blob64(statement, 7, encoded.columns.data(), encoded.columns.size(), SQLITE_STATIC);
  XP_TRY(insert_events_.Run());
  next_event_id_ += count;
  const int64_t chunk_id = sqlite3_last_insert_rowid(db_);
  for (const PackedColumn& column : chunk.columns) XP_TRY(InsertColumn(chunk_id, column));
  return absl::OkStatus();
}

absl::Status ChunkRows::InsertColumn(int64_t chunk_id, const PackedColumn& column) {
  XP_TRY(insert_args_.Prepare(db_, "INSERT INTO main.arg_chunk VALUES (?, ?, ?, ?, ?, ?)"));
  std::string_view type = ArgTypeName(column.type);
  sqlite3_stmt* statement = insert_args_.statement;
  sqlite3_bind_int64(statement, 1, chunk_id);
  sqlite3_bind_int64(statement, 2, column.key);
  sqlite3_bind_text(statement, 3, type.data(), int(type.size()), SQLITE_STATIC);
  sqlite3_bind_int64(statement, 4, column.by_name);
  sqlite3_bind_int64(statement, 5, column.count);
  sqlite3_bind_blob64(statement, 6, column.blob.data(), column.blob.size(), SQLITE_STATIC);
  return insert_args_.Run();
}

}  // namespace xlaprof
