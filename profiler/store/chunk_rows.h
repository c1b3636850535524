// Inserts packed chunks as rows. Internal to profiler/store and profiler/record.
#pragma once

#include "profiler/store/chunk_packer.h"
#include "profiler/store/store.h"

namespace xlaprof {

// An INSERT that is prepared at its first use.
struct Prepared {
  sqlite3_stmt* statement = nullptr;
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  ~Prepared() { sqlite3_finalize(statement); }
  absl::Status Prepare(sqlite3* db, const char* sql);
  // Runs the statement with the values that were bound, and resets it.
  absl::Status Run();
};

class ChunkRows {
 public:
  explicit ChunkRows(sqlite3* db) : db_(db) {}
  // Inserts a chunk. Its event ids follow those of the newest chunk of the file, whoever wrote it.
  absl::Status Insert(const PackedChunk& chunk);

 private:
  absl::Status FindNextEventId();
  absl::Status InsertColumn(int64_t chunk_id, const PackedColumn& column);

  sqlite3* const db_;
  int64_t next_event_id_ = 0;
  Prepared insert_events_, insert_args_, newest_chunk_;
};

}  // namespace xlaprof
