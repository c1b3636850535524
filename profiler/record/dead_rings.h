// Rings whose process is gone, as their lock tells. Internal to profiler/record.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof::record {

// Removes the ring at `path`, whose store is gone, so that nobody can take it in. AlreadyExists: a
// process still records to it, or it is no ring of ours.
absl::Status RemoveDeadRing(const std::filesystem::path& path);

// Removes the recordings in `folder` that were killed and whose names begin with `prefix`, as far
// as this user may.
void RemoveDeadRecordings(const std::filesystem::path& folder, std::string_view prefix);

// Whether this process has the file open, whichever part of it did that.
bool IsOpenHere(const std::filesystem::path& path);

}  // namespace xlaprof::record
