// Internal to profiler/record.
#pragma once

#include <filesystem>

#include "profiler/store/store.h"

namespace xlaprof::record {

// The ring file of a store: beside it.
std::filesystem::path RingPath(const std::filesystem::path& store);

// Tells in import_issue what the threads of a recording dropped.
absl::Status TellLosses(Store& store, int64_t recording_id);

}  // namespace xlaprof::record
