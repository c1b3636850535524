// Handles rings whose process is gone, which shows in their lock being free. Internal to
// profiler/record.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/status.h"

namespace xlaprof::record {

// Removes the ring at `path`, whose store is gone, so that nobody can recover it. Returns
// AlreadyExists if a process still records to it, or if the file is not a ring.
absl::Status RemoveDeadRing(const std::filesystem::path& path);

// Removes the killed recordings in `folder` whose names begin with `prefix`, as far as this user's
// permissions allow.
void RemoveDeadRecordings(const std::filesystem::path& folder, std::string_view prefix);

// Returns whether this process has mapped the file, whichever part of the process did so.
bool IsMappedHere(const std::filesystem::path& path);

}  // namespace xlaprof::record
