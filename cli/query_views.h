// Gives `query` what an SQLite export has in addition to the tables of a store: its views, and
// findings.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Adds the views as temporary ones. If `sql` mentions findings and the store holds none, because
// nobody has analysed it yet, it analyses the run, with the source below these folders, and adds them as a
// temporary table.
absl::Status AddQueryViews(std::string_view sql,
                           const std::vector<std::filesystem::path>& source_roots, Store& store);

}  // namespace xlaprof
