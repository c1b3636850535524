// What can still be read of a damaged store: cut, partly overwritten, or with broken trees, with or
// without its -wal file. SQLite gives up on such files; the rows on intact pages are still there.
#pragma once

#include <cstdint>
#include <filesystem>

#include "profiler/store/store.h"

namespace xlaprof {

struct SalvageResult {
  int64_t pages = 0;          // readable pages of the file and its log
  int64_t missing_pages = 0;  // cut off
  int64_t lost_pages = 0;     // there, but no row of any table could be told from them
  int64_t orphan_pages = 0;   // no tree led to them; their table was told by their rows
  int64_t rows = 0, lost_rows = 0;
  int64_t chunks = 0, events = 0;  // of event_chunk; part of rows
  int64_t lost_chunks = 0;         // chunks of any kind whose bytes are altered; part of lost_rows
  int64_t bad_log_frames = 0;      // pages in the -wal file whose checksum is wrong
  bool damaged() const {
    return missing_pages + lost_pages + orphan_pages + lost_rows + bad_log_frames > 0;
  }
};

// Reads `damaged` page by page, never through SQLite and never altering it, and puts each row that
// decodes into `into`, an empty store. What was lost is counted in the result and in import_issue
// (code damaged_store). Tracks whose row was lost get one that says so. InvalidArgument when
// nothing in the file is of a store; Unimplemented, naming both versions, when its schema is newer.
absl::StatusOr<SalvageResult> Salvage(const std::filesystem::path& damaged, Store& into);

}  // namespace xlaprof
