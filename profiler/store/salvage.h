// Reads what can still be read of a damaged store: one that is cut, partly overwritten, or has
// broken trees, with or without its -wal file. SQLite gives up on such files, but the rows on
// intact pages are still there.
#pragma once

#include <cstdint>
#include <filesystem>

#include "profiler/store/store.h"

namespace xlaprof {

struct SalvageResult {
  int64_t pages = 0;          // readable pages of the file and its log
  int64_t missing_pages = 0;  // cut off
  int64_t lost_pages = 0;     // present, but no row of any table could be recognised in them
  int64_t orphan_pages = 0;   // no tree led to them; their rows said which table they belong to
  int64_t rows = 0, lost_rows = 0;
  int64_t chunks = 0, events = 0;  // rows and events of event_chunk; part of rows
  int64_t lost_chunks = 0;         // chunks of any kind whose bytes are altered; part of lost_rows
  int64_t bad_log_frames = 0;      // pages in the -wal file whose checksum is wrong
  bool damaged() const {
    return missing_pages + lost_pages + orphan_pages + lost_rows + bad_log_frames > 0;
  }
};

// Reads `damaged` page by page, never through SQLite and never altering it, and puts each row that
// decodes into `into`, an empty store. Counts what was lost in the result and in import_issue (code
// damaged_store). A track whose row was lost gets a row that says so. Returns InvalidArgument if
// nothing in the file belongs to a store. Returns Unimplemented, naming both versions, if its
// schema is newer.
absl::StatusOr<SalvageResult> Salvage(const std::filesystem::path& damaged, Store& into);

}  // namespace xlaprof
