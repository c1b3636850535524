// Reads what can still be read of a damaged store: one that is cut, partly overwritten, or has
// broken trees. SQLite itself gives up on such files, but the rows on intact pages are still there,
// and its recovery extension reads them.
#pragma once

#include <cstdint>
#include <filesystem>

#include "profiler/store/store.h"

namespace xlaprof {

struct RecoveredRows {
  int64_t pages = 0;          // of the file and of the committed part of its log
  int64_t missing_pages = 0;  // cut off
  int64_t rows = 0;
  int64_t lost_rows = 0;  // decoded, but altered: they fit no table, or their chunk is damaged
  int64_t chunks = 0, events = 0;  // rows and events of event_chunk; part of rows
};

// Puts each row that `damaged` still holds into `into`, an empty store, and adds the import issue
// damaged_store. Never alters `damaged`; a file with a log (-wal), or without its first page, is
// copied into a temporary folder. A track whose row was lost gets a row that says so. Returns
// InvalidArgument if nothing in the file belongs to a store. Returns Unimplemented, with what to do,
// if its schema is another than ours.
absl::StatusOr<RecoveredRows> ReadDamagedStore(const std::filesystem::path& damaged, Store& into);

}  // namespace xlaprof
